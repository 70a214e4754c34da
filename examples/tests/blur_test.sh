#!/usr/bin/env bash
# blur_test.sh PROGRAM: compare with means computed by awk, for several numbers of workers; invalid
# files.
set -euo pipefail
program=$1
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$work"

# as_numbers FILE: width, height, channels, then the samples.
as_numbers() {
    local header=$((2 + 1 + ${#2} + 1 + ${#3} + 1 + 3 + 1))
    printf '%s %s %s\n' "$2" "$3" "$4"
    tail -c "+$((header + 1))" "$1" | od -An -v -tu1 -w1
}

# blurred RADIUS: the expected result, row means first.
blurred() {
    awk -v r="$1" '
        NR == 1 { w = $1; h = $2; c = $3; next }
        { v[n++] = $1 }
        function mean(at, length_, base, step,    i, sum, lo, hi) {
            lo = at > r ? at - r : 0
            hi = at + r + 1 < length_ ? at + r + 1 : length_
            for (i = lo; i < hi; i++)
                sum += v[base + i * step]
            return int((sum + int((hi - lo) / 2)) / (hi - lo))
        }
        function pass(down,    x, y, k, i) {
            for (y = 0; y < h; y++) for (x = 0; x < w; x++) for (k = 0; k < c; k++)
                to[(y * w + x) * c + k] = down ? mean(y, h, x * c + k, w * c) : mean(x, w, y * w * c + k, c)
            for (i = 0; i < n; i++)
                v[i] = to[i]
        }
        END { pass(0); pass(1); print w, h, c; for (i = 0; i < n; i++) printf "%8d\n", v[i] }'
}

"$program" -m 130x75 picture.ppm
for radius in 0 1 5 200; do
    as_numbers picture.ppm 130 75 3 | blurred "$radius" | tr -d ' ' >truth
    for workers in 1 2 4; do
        with "$workers" "$program" -r "$radius" picture.ppm out.ppm
        as_numbers out.ppm 130 75 3 | tr -d ' ' >got
        same truth got "radius $radius with $workers workers is not what awk says"
    done
done
"$program" -r 0 picture.ppm out.ppm
same picture.ppm out.ppm "radius 0 changes the picture"

# A grey image with comments in its header, and an image of one pixel.
printf 'P5\n# a comment\n3 # another\n1\n255\nabc' >grey.pgm
"$program" -r 1 grey.pgm out.pgm
[ "$(tail -c 3 out.pgm)" = "bbc" ] || fail "grey pixels are wrong"
printf 'P5 1 1 255 x' >dot.pgm
"$program" dot.pgm out.pgm
[ "$(tail -c 1 out.pgm)" = x ] || fail "one pixel is wrong"

for text in '' P 'P7 1 1 255 x' 'P5 0 1 255 x' 'P5 1 1 255 ' 'P5 1 1 255 xx' 'P5 1 1 15 x' 'P5 -1 1 255 x' 'P5 1 1' \
    'P5 70000 1 255 x' 'P5 1 99999999999999999999999 255 x' 'P5 1a 1 255 x' 'P6 1 1 255 xx'; do
    printf '%s' "$text" >odd
    refuses 1 "$program" odd out
done
refuses 1 "$program" nowhere out
refuses 1 "$program" dot.pgm /nowhere/out
refuses 2 "$program"
refuses 2 "$program" -x
refuses 2 "$program" -r 1001 dot.pgm out
refuses 2 "$program" -r '' dot.pgm out
refuses 2 "$program" -m 10 out
refuses 2 "$program" -m 0x5 out
refuses 2 "$program" -m 5x5
"$program" -h | grep -q usage || fail "-h does not help"
