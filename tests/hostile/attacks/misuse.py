"""Correct uses from unusual contexts, and misuse of the library."""
import subprocess

from hostile import Attack

# With several numbers of workers, all deques and all observers the results must be the same.
SETTINGS = [{}, {"FILCH_WORKERS": "1"}, {"FILCH_WORKERS": "8", "FILCH_PUBLISH": "eager"},
            {"FILCH_TRACE": "t.json", "FILCH_STATS": "1"}, {"FILCH_SAMPLE": "s", "FILCH_SAMPLE_NS": "100000"}, {"FILCH_SCALE": "x"}]


def attacks(tools):
    listed = subprocess.run([tools.misuse, "list"], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in listed.splitlines():
        how, what, which = line.split()
        for i, env in enumerate(SETTINGS):
            settings = "".join(f" {k}={v}" for k, v in env.items())
            words = ["in", what, which] if how == "in" else ["do", what]
            may = ("right",) if how == "in" else tuple(which.split(","))
            yield Attack(" ".join(words) + settings, [tools.launch, tools.misuse, *words], may, env, leaves=("t*.json", "s*", "x*"),
                         quick=i == 0 or how == "do")
    # A plugin that contains all of Filch (filch_static) stays loaded once it has started a runtime.
    for library in ("filch", "filch_static"):
        for what in ("idle", "timer", "sleeping", "waiting", "accepting"):
            yield Attack(f"unload {library} {what}", [tools.launch, tools.unload, getattr(tools, f"libhostile_plugin_{library}.so"), what],
                         quick=True)
