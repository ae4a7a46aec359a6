// What of the page does not depend on the findings. Colours meet WCAG AA in both schemes.
#pragma once

#include <string_view>

namespace cleave::report {

inline constexpr std::string_view kPageStyle = R"css(
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b6470; --paper: #fbfbfa; --card: #ffffff; --line: #d9dce1;
  --confirmed: #b3121d; --witnessed: #a8460b; --feasible: #80600a; --candidate: #1f5f99; --mark: #fff3c4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa4b1; --paper: #15181c; --card: #1d2127;
  --line: #363c45; --confirmed: #ff8086; --witnessed: #ffa163; --feasible: #e3c054; --candidate: #7cbcf5;
  --mark: #4a4013; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main, header { max-width: 68rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 0; font-weight: 600; }
p { margin: .5rem 0; }
code, pre, .mono { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.soft { color: var(--soft); }
.filter { margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .5rem; }
.filter button { font: inherit; padding: .2rem .8rem; border: 1px solid var(--line); border-radius: 1rem;
  background: var(--card); color: var(--ink); cursor: pointer; }
.filter button[aria-pressed=true] { border-color: var(--ink); font-weight: 600; }
article { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--tone); border-radius: 6px;
  margin: 1rem 0; padding: .8rem 1rem; }
article[data-verdict=confirmed] { --tone: var(--confirmed); } article[data-verdict=witnessed] { --tone: var(--witnessed); }
article[data-verdict=feasible] { --tone: var(--feasible); } article[data-verdict=candidate] { --tone: var(--candidate); }
article[data-verdict=infeasible] { --tone: var(--line); }
article header { display: flex; flex-wrap: wrap; gap: .3rem 1rem; justify-content: space-between; padding: 0; max-width: none; }
.verdict { color: var(--tone); font-weight: 700; }
.id { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { text-align: left; padding: .25rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.timeline td { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; min-width: 9rem; }
.timeline td.here { background: var(--mark); }
.timeline td.away { color: var(--soft); }
.place { margin: .5rem 0 0; }
pre { margin: .2rem 0 .6rem; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 4px; overflow-x: auto; }
pre .hit { background: var(--mark); display: inline-block; min-width: 100%; }
summary { cursor: pointer; color: var(--soft); }
)css";

inline constexpr std::string_view kPageScript = R"js(
for (const button of document.querySelectorAll(".filter button")) {
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll(".filter button")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
    for (const article of document.querySelectorAll("article")) {
      article.hidden = button.dataset.show !== "all" && article.dataset.verdict !== button.dataset.show;
    }
  });
}
)js";

}  // namespace cleave::report
