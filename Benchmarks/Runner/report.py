"""Turns results into tables."""

from measure import Results, median, median_ratio


def rate(result: dict) -> float:
    return result["requests"] / result["seconds"]


def cpu_per_100k(result: dict) -> float:
    return result["cpuSeconds"] / result["requests"] * 100_000


def peak_mib(result: dict) -> float | None:
    return None if result["peakKiB"] is None else result["peakKiB"] / 1024


def allocations(result: dict) -> float | None:
    return result["allocations"]


def number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def with_ratio(value: str, ratio: float | None) -> str:
    return value if ratio is None else f"{value} ({ratio:.2f}×)"


def table(title: str, header: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]

    def line(cells: list[str]) -> str:
        return "  ".join(cell.ljust(width) if index == 0 else cell.rjust(width)
                         for index, (cell, width) in enumerate(zip(cells, widths)))

    return "\n".join([title, "", line(header), "  ".join("-" * width for width in widths), *map(line, rows), ""])


def wire(title: str, results: Results) -> str:
    yardstick = next(iter(results.values()))
    rows = []
    for name, mine in results.items():
        def compared(figure, digits: int = 0) -> str:
            ratio = None if mine is yardstick else median_ratio(mine, yardstick, figure)
            return with_ratio(number(median(mine, figure), digits), ratio)

        count, base = median(mine, allocations), median(yardstick, allocations)
        more = "" if mine is yardstick or count is None or base is None else f" ({count - base:+.1f})"
        rows.append([
            name, compared(rate), compared(cpu_per_100k, 2), number(median(mine, peak_mib), 1),
            number(count, 1) + more, compared(lambda result: result["p50us"]), compared(lambda result: result["p99us"]),
        ])
    header = ["", "requests/s", "CPU s/100k", "peak MiB", "allocations", "p50 µs", "p99 µs"]
    return table(title, header, rows)


def downloads(title: str, results: Results) -> str:
    def speed(result: dict) -> float:
        return 1024 / result["seconds"]

    yardstick = next(iter(results.values()))
    rows = []
    for name, mine in results.items():
        ratio = None if mine is yardstick else median_ratio(mine, yardstick, speed)
        rows.append([
            name, with_ratio(number(median(mine, speed)), ratio),
            number(median(mine, lambda result: result["cpuSeconds"]), 2), number(median(mine, peak_mib), 1),
        ])
    return table(title, ["", "MiB/s", "CPU s", "peak MiB"], rows)


def uploads(title: str, results: Results, mebibytes: int) -> str:
    def speed(result: dict) -> float:
        return mebibytes * result["requests"] / result["seconds"]

    def cpu(result: dict) -> float:
        return result["cpuSeconds"] / result["requests"] * 1024 / mebibytes

    yardstick = next(iter(results.values()))
    rows = []
    for name, mine in results.items():
        ratios = [None if mine is yardstick else median_ratio(mine, yardstick, figure) for figure in (speed, cpu)]
        rows.append([
            name, with_ratio(number(median(mine, speed)), ratios[0]), with_ratio(number(median(mine, cpu), 2), ratios[1]),
            number(median(mine, peak_mib), 1),
        ])
    return table(title, ["", "MiB/s", "CPU s/GiB", "peak MiB"], rows)


def pipeline(title: str, results: Results) -> str:
    def nanoseconds(result: dict) -> float:
        return result["seconds"] / result["requests"] * 1e9

    rows = [[name, number(median(mine, nanoseconds)), number(median(mine, allocations), 2)]
            for name, mine in results.items()]
    for kind in ["", ", untraced"]:
        few, many = (results.get(f"stub, {count} interceptors{kind}") for count in (0, 20))
        if few and many:
            each = [(nanoseconds(more) - nanoseconds(less)) / 20 for less, more in zip(few, many)]
            rows.append([
                f"each interceptor{kind}", number(sorted(each)[len(each) // 2]),
                number((median(many, allocations) - median(few, allocations)) / 20, 2),
            ])
    return table(title, ["", "ns", "allocations"], rows)
