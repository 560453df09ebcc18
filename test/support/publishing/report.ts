// A long report as agents write them, and a table of values: headings, footnotes, formulas, images and dates.

const STATIONS = ['Slipway', 'Bollard 1', 'Bollard 2', 'Bollard 6', 'Sill, west', 'Sill, east', 'Light'];

export const REPORT = `# Siltation of the north quay

Between 2026-03-01 08:30 UTC and 2026-10-18 16:45 UTC the basin was sounded on eleven days.[^method] This report says where the
bottom has risen, how fast, and what it would cost to dredge it ($48,000 of $120,000 are left in this year's budget).

## What was found

The sill has lost **12 cm** at its western end, and the basin has gained up to 31 cm of silt in front of the light. The gain
follows the speed of the current over the sill,[^current] which storms of more than 8 Bft double.

![The quay at low water](img/quay.png)
![The sill from the west](img/sill.png)
![The light at dusk](img/light.png)

### In front of the light

The rate is highest where the current slows down. Between 3 March 2026 and October 18, 2026 it was 4.1 cm a month, as the
sediment transport of Meyer-Peter and Müller predicts:

$$
q_s = 8 \\sqrt{(s-1)\\,g\\,d^3}\\;\\left(\\theta - \\theta_c\\right)^{3/2},
\\qquad \\theta = \\frac{\\tau_b}{(\\rho_s - \\rho)\\,g\\,d}
$$

with the grain size $d = 0.18\\,\\mathrm{mm}$, the relative density $s = 2.65$ and the critical Shields number
$\\theta_c \\approx 0.047$.

### Along the sill

| Station | Spring | October | Change | Last sounding |
|:--|--:|--:|--:|:--|
| Slipway | 2.16 | 2.14 | −0.02 | 2026-10-18 09:10 |
| Bollard 6 | 3.53 | 3.41 | −0.12 | 2026-10-18 10:25 |
| Light | 4.82 | 4.87 | +0.05 | 2026-10-18 11:40 |

## How it was measured

Each depth is the mean of three casts, corrected by the gauge of the harbour office:[^gauge]

\\[
\\begin{aligned}
h_i &= \\frac{1}{3}\\sum_{k=1}^{3} \\left(z_{ik} - g(t_{ik})\\right) + 0.04\\,\\mathrm{m} \\\\
\\sigma_i &= \\sqrt{\\tfrac{1}{2}\\sum_{k=1}^{3} (z_{ik} - \\bar z_i)^2}
\\end{aligned}
\\]

### The gauge

It was checked on 2026-03-03 at 11:20 am and again on 2026-10-16 at 10:05 am; both times it was within 1 cm of the staff.

### The echo sounder

\`\`\`python
def corrected(depth: float, gauge: float) -> float:
    """Depth above chart datum."""
    return round(depth - gauge + 0.04, 2)
\`\`\`

## What it would cost

1. Dredging in front of the light, 1,900 m³
2. Repairing the western end of the sill
3. A gauge of our own, so that nobody has to ask the harbour office

## What should happen before winter

- [x] Soundings repeated after the storm of 12 October 2026
- [ ] The divers' report
- [ ] Three offers for the dredging

[^method]: With a single-beam echo sounder at 200 kHz, from the pilot boat. The [harbour office](https://harbour.example/gauge)
    has the raw data.
[^current]: Measured with a drifter; $v = 0.7\\,\\mathrm{m/s}$ at half tide.
[^gauge]: Its zero is 0.04 m above chart datum.
`;

/** Soundings by station and day: more rows than a page shows. */
export function aTable(rows: number): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    const day = new Date(Date.UTC(2026, 2, 1) + Math.floor(n / STATIONS.length) * 3_600_000);
    const depth = (2 + ((n * 37) % 311) / 100).toFixed(2);
    const note = n % 9 === 0 ? '"scour, at the ""foot"" of the wall"' : n % 5 === 0 ? 'silting' : '';
    return `${n + 1},"${STATIONS[n % STATIONS.length]}",${day.toISOString().slice(0, 16).replace('T', ' ')},${depth},${(((n * 13) % 41) - 20) / 100},${note}`;
  });
  return `No,Station,Sounded (UTC),Depth (m),Change (m),Note\n${lines.join('\n')}\n`;
}
