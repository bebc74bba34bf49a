"""The page docs/results/noise.md, from results of the matrix `noise`: COMMIT DIRECTORY..."""

import pathlib
import sys

from cairn_bench.results import figures, ratios, store

HEAD = """# How often equal systems are called different

`scripts/bench_noise.sh` made this from commit {commit}, on {date}. It ran the matrix `noise`
{runs}: plain tmpfs against itself, each cell twice in every round. Each pair of such figures
(A/A) is judged as two systems are, by an interval of 95 %.

- **Real pairs:** {wrong} of {pairs} intervals exclude 1, which is {share:.1f} %. With a
  probability of 5 % each, up to {most} do so by chance (binomial distribution).
- **Verdicts**, by intervals that hold for all pairs of a run together: {verdicts} differences are
  shown.
- **Simulated pairs:** `tests/bench/ratios_test.py` draws 10,000 for each of several seeds, in pairs
  and as two runs. The share of wrong intervals lies within the binomial interval of 5 %.
  `tests/bench/verdicts_test.py` draws tables: at most 5 % of those of equal systems show a
  difference, and no verdict contradicts its interval.
- Machine: {machine}, {processors} processors, Linux {linux}. {rounds} rounds a run. Load
  before the first run: {load:.1f}. A busy machine makes intervals wide, and not wrong.

| run | figure | ranks | A / A | 95 % | |
| --- | --- | --- | --- | --- | --- |"""


def main(commit, directories):
    found = [store.load(pathlib.Path(each) / "results.jsonl") for each in directories]
    pairs, verdicts = [], 0
    for number, results in enumerate(found, 1):
        series = figures.Figures(results)
        verdicts += len(series.false_findings)
        for key in series.series:
            ratio = series.ratio(*key) if key[3] == series.again else None
            if ratio is not None and ratio.half is not None:
                pairs.append((number, key, ratio))
    wrong = sum(ratio.excludes_1 for _, _, ratio in pairs)
    run = found[0].run
    environment = run["environment"]
    print(HEAD.format(
        commit=commit, date=run["started"][:10], pairs=len(pairs), wrong=wrong,
        runs="once" if len(found) == 1 else f"{len(found)} times",
        share=100 * wrong / len(pairs), most=ratios.most_wrong(len(pairs)), verdicts=verdicts,
        machine=environment["processor"], processors=environment["processors"],
        linux=environment["linux"], load=environment["load_before"][0], rounds=found[0].rounds))
    for number, (kernel, access, ranks, _), ratio in pairs:
        mark = "excludes 1" if ratio.excludes_1 else ""
        print(f"| {number} | {kernel} {access} | {ranks} | {ratio.ratio:.3f} "
              f"| {ratio.low:.3f}..{ratio.high:.3f} | {mark} |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
