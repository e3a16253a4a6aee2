// Runs within a report's page, and compares what is drawn, as the browser has laid it out, with the tables beside it.
const problems = [];
let compared = 0;
const expect = (isTrue, text) => { compared += 1; if (!isTrue) problems.push(text); };
const rows = (table) => [...table.querySelectorAll("tr")].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent));
const near = (left, right, slack) => Math.abs(left - right) <= slack;

for (const card of document.querySelectorAll("article.card")) {
    const name = card.querySelector("h3").textContent;
    const details = card.querySelector("details");
    details.open = true;

    // The bars: their heights are to each other as the counts are.
    const counts = rows(card.querySelector("table.spread")).map((row) => Number(row[1]));
    const bars = [...card.querySelectorAll("rect.bar")].map((bar) => bar.getBoundingClientRect());
    expect(bars.length === counts.length, `${name}: ${bars.length} bars for ${counts.length} counts`);
    const most = Math.max(...counts), highest = Math.max(...bars.map((bar) => bar.height));
    expect(highest > 40, `${name}: the highest bar has ${highest} pixels`);
    counts.forEach((count, index) => {
        const height = bars[index].height, wanted = count / most * highest;
        expect(near(height, wanted, 1), `${name}: bar ${index} is ${height} high for ${count} of ${most}, not ${wanted}`);
    });

    // The lines: a point for each part of the time, as high as its seconds.
    const figures = rows(card.querySelector("table.figures"));
    const slots = [...card.querySelectorAll("table.figures time")].map((time) => Number(time.dataset.slot));
    const chart = card.querySelector("svg.chart"), end = Number(chart.dataset.end);
    const marks = [...chart.querySelectorAll("line.grid")].map((line) => line.getBoundingClientRect().top);
    const bottom = Math.max(...marks), top = Math.min(...marks);
    for (const [column, line] of [[4, "p50"], [5, "p90"], [6, "p99"]]) {
        const points = [...chart.querySelectorAll(`polyline.${line}`)].flatMap((polyline) => {
            // A point that stands alone is drawn twice, or it would not be seen.
            const all = [...polyline.points].map((point) => point.matrixTransform(polyline.getScreenCTM()));
            return all.length === 2 && all[0].x === all[1].x ? [all[0]] : all;
        });
        expect(points.length === figures.length, `${name}: ${points.length} points of ${line} for ${figures.length} rows`);
        points.slice(0, figures.length).forEach((point, index) => {
            const wanted = bottom - Number(figures[index][column]) / end * (bottom - top);
            expect(near(point.y, wanted, 1), `${name}: ${line} of row ${index} is at ${point.y}, not ${wanted}`);
            expect(index === 0 || point.x > points[index - 1].x, `${name}: ${line} goes back at row ${index}`);
        });
    }

    // The strip: a cell for each part of the time, in the colour of its grade.
    const cells = [...card.querySelectorAll("rect.cell")];
    expect(cells.length === figures.length, `${name}: ${cells.length} cells for ${figures.length} rows`);
    cells.slice(0, figures.length).forEach((cell, index) => {
        const [judged, good] = [Number(figures[index][2]), Number(figures[index][3])];
        const grade = judged === 0 ? "none" : good === judged ? "good" : good >= 0.9 * judged ? "fair" : good === 0 ? "down" : "poor";
        expect(cell.classList.contains(grade), `${name}: cell ${index} is ${cell.classList} for ${good} of ${judged}`);
        expect(Number(cell.dataset.slot) === slots[index], `${name}: cell ${index} is about another time`);
        expect(cell.getBoundingClientRect().width > 0.5, `${name}: cell ${index} cannot be seen`);
    });

    // The sums of both tables are the route's row in the overview.
    const sum = (values) => values.reduce((total, value) => total + value, 0);
    const row = rows(document.getElementById("overview")).find((cells) => cells[1] === name
        && cells[0] === card.closest("section").querySelector("h2").textContent);
    const total = row ? Number(row[2].replaceAll(",", "")) : -1;
    expect(sum(counts) === total, `${name}: the bars count ${sum(counts)} of ${total}`);
    expect(sum(figures.map((cells) => Number(cells[1]))) === total, `${name}: the figures do not sum to ${total}`);
}

expect(document.querySelectorAll("article.card").length > 0, "there is no card");
expect(document.documentElement.scrollWidth <= window.innerWidth, "the page is wider than its window");
const names = performance.getEntriesByType("resource").map((entry) => entry.name);
expect(names.length === 0, `the page loads ${names.join(", ")}`);

const result = document.createElement("pre");
result.id = "result";
result.textContent = problems.length ? problems.slice(0, 20).join("\n") : `${compared} comparisons hold`;
document.body.append(result);
