// What a browser makes of the report: appended to a copy of it by cli_report_test.sh, and told to the page around it.
window.addEventListener("load", function () {
    var seen = function (e) {
        var r = e.getBoundingClientRect();
        return r.width > 0 && r.height > 0;
    };
    var all = function (what) {
        return Array.prototype.slice.call(document.querySelectorAll(what));
    };
    // The luminance of a colour, and the contrast of two, as WCAG 2 has them.
    var light = function (colour) {
        var c = colour.match(/[\d.]+/g).slice(0, 3).map(function (v) {
            v /= 255;
            return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
        });
        return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
    };
    var contrast = function (a, b) {
        var x = light(a), y = light(b);
        return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    };
    var page = getComputedStyle(document.body).backgroundColor;
    var least = function (what, property) {
        return Math.min.apply(null, all(what).filter(seen).map(function (e) {
            return contrast(getComputedStyle(e)[property], page);
        }));
    };
    var ids = all("[id]").map(function (e) { return e.id; });
    var figures = all("figure");
    // Words that stick out of their figure would be cut off.
    var cut = all("svg text").filter(seen).filter(function (t) {
        var r = t.getBoundingClientRect(), s = t.ownerSVGElement.getBoundingClientRect();
        return r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 1 || r.bottom > s.bottom + 1;
    });
    var result = {
        width: window.innerWidth,
        overflow: document.documentElement.scrollWidth - window.innerWidth,
        figures: figures.length,
        drawn: figures.filter(function (f) {
            return Array.prototype.filter.call(f.querySelectorAll("svg"), seen).length === 1;
        }).length,
        described: all("svg").filter(function (s) {
            return s.querySelector("title").textContent && s.querySelector("desc");
        }).length,
        svgs: all("svg").length,
        tables: all("table").length,
        captions: all("caption").filter(function (c) { return c.textContent; }).length,
        repeated: ids.length - new Set(ids).size,
        lost: all("a[href^='#']").filter(function (a) {
            return !document.getElementById(a.getAttribute("href").slice(1));
        }).length,
        requests: performance.getEntriesByType("resource").filter(function (e) {
            return !/^data:/.test(e.name);
        }).length,
        cut: cut.map(function (t) { return t.textContent; }),
        text: least("p,li,dd,dt,caption,figcaption,td,th:not(.again),.badge", "color"),
        labels: least("svg text", "fill"),
        bars: least("svg polygon", "fill"),
        page: page
    };
    window.parent.postMessage(JSON.stringify(result), "*");
});
