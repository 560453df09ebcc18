// Sorts a table by the column whose heading is pressed: upwards, downwards, then as the file has it.
const collator = new Intl.Collator(undefined, { numeric: true });
const NEXT = { none: 'ascending', ascending: 'descending', descending: 'none' };

/** The number that a cell shows, whatever stands between its thousands. */
function numberOf(text, decimal) {
  const digits = text.replace(/^\(/, '-').replaceAll('\u2212', '-');
  const kept = digits.replace(decimal === ',' ? /[^\d,-]/g : /[^\d.-]/g, '').replace(',', '.');
  return Number.parseFloat(kept);
}

/** The rows in the order of a column; those without a value last, whichever the order. */
function sorted(rows, { column, decimal, sign }) {
  const keyed = rows.map((row) => {
    const text = row.cells[column].textContent.trim();
    return { row, isEmpty: text === '', key: decimal === undefined ? text : numberOf(text, decimal) };
  });
  const compare = decimal === undefined ? collator.compare : (a, b) => a - b;
  keyed.sort((a, b) => a.isEmpty - b.isEmpty || sign * compare(a.key, b.key));
  return keyed.map(({ row }) => row);
}

for (const table of document.querySelectorAll('.data table')) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  for (const [column, head] of heads.entries()) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    if (button.textContent.trim() === '') button.ariaLabel = `Sort by column ${column + 1}`;
    head.append(button);
    button.addEventListener('click', () => {
      const order = NEXT[head.ariaSort ?? 'none'];
      for (const each of heads) each.ariaSort = null;
      if (order !== 'none') head.ariaSort = order;
      const { decimal } = head.dataset;
      const sign = order === 'descending' ? -1 : 1;
      body.replaceChildren(...(order === 'none' ? rows : sorted(rows, { column, decimal, sign })));
    });
  }
}
