#!/usr/bin/env bash
# labels_test.sh LABELS: tools/labels reports each missing or unused label, and no other.
# shellcheck disable=SC2016  # the backquotes are Markdown
set -euo pipefail
labels=$1
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT
mkdir -p "$tree"/src/deque "$tree"/docs "$tree"/tests/model/explore
cases=0

# Write a tree without a fault.
fresh() {
    cat >"$tree/src/deque/toy.c" <<'C'
    /* -> toy.steal.bottom */
    fi_store_release(&d->bottom,
                     b + f(1), toy.push.publish);
    x = fi_load_acquire(&d->bottom, toy.steal.bottom); /* <- toy.push.publish */
    fi_fence_seq_cst(toy.pop.fence);
    fi_fence_light(toy.light); /* <-> toy.heavy */
    fi_fence_heavy(toy.heavy);
    if (FI_FAULT(toy.grow.keep))
        fi_fetch_add_acquire(&n, 1, toy.count.up);
C
    cat >"$tree/docs/memory-model.md" <<'M'
| `toy.push.publish` | release store | x |
| `toy.steal.bottom` | acquire load | x |
| `toy.pop.fence` | seq_cst fence | x |
| `toy.light` | light fence | x |
| `toy.heavy` | heavy fence | x |
| `toy.count.up` | acquire add | x |
M
    cat >"$tree/tests/model/explore/toy_check.c" <<'T'
    {"toy.push.publish"} {"toy.steal.bottom"} {"toy.pop.fence"} {"toy.grow.keep"} {"toy.count.up"} {"items"}
    {"toy.light"} {"toy.heavy"}
T
}

# expect CODE TEXT: the exit status, and a text that the output contains
expect() {
    local code=0 output
    output=$("$labels" "$tree" 2>&1) || code=$?
    cases=$((cases + 1))
    case $code:$output in
    "$1":*"$2"*) ;;
    *)
        printf 'FAILED: expected %s and "%s", got %s and: %s\n' "$1" "$2" "$code" "$output" >&2
        exit 1
        ;;
    esac
}

fresh
expect 0 '6 operations'
fresh; sed -i '/pop.fence/d' "$tree/docs/memory-model.md"
expect 1 'toy.pop.fence has no row'
fresh; sed -i '/toy.light/d' "$tree/docs/memory-model.md"
expect 1 'toy.light has no row'
fresh; sed -i 's/{"toy.heavy"}//' "$tree/tests/model/explore/toy_check.c"
expect 1 'toy.heavy has no mutant'
fresh; sed -i 's/{"toy.push.publish"}//' "$tree/tests/model/explore/toy_check.c"
expect 1 'toy.push.publish has no mutant'
fresh; sed -i 's/{"toy.grow.keep"}//' "$tree/tests/model/explore/toy_check.c"
expect 1 'toy.grow.keep has no mutant'
fresh; sed -i 's/{"toy.count.up"}//' "$tree/tests/model/explore/toy_check.c"
expect 1 'toy.count.up has no mutant'
fresh; echo '| `toy.old.row` | release store | x |' >>"$tree/docs/memory-model.md"
expect 1 'toy.old.row has a row'
fresh; echo '{"toy.old.mutant"}' >>"$tree/tests/model/explore/toy_check.c"
expect 1 'toy.old.mutant has a mutant'
fresh; echo '/* <-> toy.no.such */' >>"$tree/src/deque/toy.c"
expect 1 'toy.no.such is named as a partner'
fresh; echo 'fi_fence_seq_cst(toy.pop.fence);' >>"$tree/src/deque/toy.c"
expect 1 'toy.pop.fence labels more than one'
rm "$tree/docs/memory-model.md"
expect 2 'has no docs/memory-model.md'
printf '%d passed, 0 failed\n' "$cases"
