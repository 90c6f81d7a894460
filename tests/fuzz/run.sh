#!/bin/sh
# Runs every target of a bundle at once: `./run.sh SECONDS OUT`. Needs a shell, coreutils, awk, tar and xz; no cargo.
#
# OUT/summary.txt tells of each target: executions, coverage, what failed and how often, and the slowest input; OUT also
# gets an input for each of the first failures. WORKERS is the number of processes of each target (2).
set -eu
if [ $# -ne 2 ]; then
    echo "usage: ./run.sh SECONDS OUT" >&2
    exit 2
fi
seconds=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")"
here=$(pwd)
workers=${WORKERS:-2}
# Inputs of failures that are kept.
most_inputs=6

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xJf corpora.tar.xz -C "$work"
export PEAK_FUZZ_ROOT="$work/files"
for packed in bin/*.xz; do
    target=$(basename "$packed" .xz)
    xz -dc "$packed" > "$work/$target"
    chmod +x "$work/$target"
done

# One process after another until the time is over: a failure ends a process, not the run.
worker() {
    target=$1
    folder=$2
    mkdir -p "$folder/corpus" "$folder/found"
    cp -r "$work/seeds/$target/." "$folder/corpus"
    end=$(($(date +%s) + seconds))
    while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
        # What does not end by itself is ended a little later.
        LD_LIBRARY_PATH="$work/lib" timeout -k 5 $((left + 20)) "$work/$target" "$folder/corpus" -max_total_time="$left" -timeout=10 \
            -rss_limit_mb=4096 -max_len=100000 -report_slow_units=2 -print_final_stats=1 \
            -dict="$here/dictionaries/$(dictionary "$target")" -artifact_prefix="$folder/found/" -seed=$(($3 + left)) \
            > "$folder/log" 2>&1 || true
        cat "$folder/log" >> "$folder/logs"
        failure "$folder"
    done
}

dictionary() { if [ "$1" = rewrite ]; then echo rewrite.dict; else echo peak.dict; fi }

# Notes what ended the last process, in one line with its input, if something did.
failure() {
    input=$(sed -n 's/.*Test unit written to //p' "$1/log" | grep -v slow-unit | tail -1)
    [ -n "$input" ] || return 0
    what=$(grep -a -A3 -m1 "panicked at" "$1/log" | cut -c1-300 |
        sed '/^stack backtrace/,$d' | tr '\n\t' '  ')
    [ -n "$what" ] || what=$(grep -a -m1 "ERROR: libFuzzer" "$1/log" | cut -c1-200)
    [ -n "$what" ] || what=$(tail -1 "$1/log" | cut -c1-200)
    printf '%s\t%s\n' "$what" "$input" >> "$1/failures"
}

for packed in bin/*.xz; do
    target=$(basename "$packed" .xz)
    number=1
    while [ "$number" -le "$workers" ]; do
        worker "$target" "$work/out/$target/$number" $((number * 1000003)) &
        number=$((number + 1))
    done
done
wait

# The place of a failure, which inputs that fail alike share; else libFuzzer's word.
kind() { cut -f1 | sed 's/.*panicked at \([^ ]*\):.*/\1/; s/==[0-9]*==//' | cut -c1-120; }

{
    printf '%s seconds, %s processes of each target\n' "$seconds" "$workers"
    for folder in "$work"/out/*; do
        target=$(basename "$folder")
        cat "$folder"/*/logs | awk -v target="$target" '
            /stat::number_of_executed_units/ { runs += $2 }
            /stat::slowest_unit_time_sec/ && $2 > slowest { slowest = $2 }
            /stat::peak_rss_mb/ && $2 > rss { rss = $2 }
            / cov: / { for (at = 1; at < NF; at++) if ($at == "cov:" && $(at + 1) > cov) { cov = $(at + 1); ft = $(at + 3) } }
            END { printf "\n%s: %d executions, coverage %d (features %d), slowest input %d s, memory %d MiB\n",
                target, runs, cov, ft, slowest, rss }'
        cat "$folder"/*/failures > "$work/failures" 2> "$work/none" || true
        printf '%s crashes, %s slow units\n' "$(wc -l < "$work/failures")" \
            "$(find "$folder" -name 'slow-unit-*' | wc -l)"
        # How often, where, and the words of one of them.
        kind < "$work/failures" | paste - "$work/failures" | sort | awk -F '\t' '
            { count[$1]++; if (!($1 in words)) words[$1] = $2 }
            END { for (kind in count) printf "%6d %s\n       %s\n", count[kind], kind, words[kind] }'
        sed "s/^/$target\t/" "$work/failures" >> "$work/all"
    done
} > "$out/summary.txt"

# One input, the shortest, of each kind of failure.
touch "$work/all"
cut -f2- "$work/all" | kind | paste - "$work/all" | while IFS="$(printf '\t')" read -r kind target _ input; do
    printf '%s\t%s\t%s\t%s\n' "$kind" "$(wc -c < "$input")" "$target" "$input"
done | sort -t "$(printf '\t')" -k1,1 -k2,2n | awk -F '\t' '!seen[$1]++' | head -n "$most_inputs" |
    while IFS="$(printf '\t')" read -r kind _ target input; do
        name=$target-$(basename "$input")
        cp "$input" "$out/$name"
        printf '%s\n    %s\n' "$name" "$kind" >> "$out/inputs.txt"
    done
if [ -f "$out/inputs.txt" ]; then
    { printf '\ninputs\n'; cat "$out/inputs.txt"; } >> "$out/summary.txt"
    rm "$out/inputs.txt"
fi
cat "$out/summary.txt"
