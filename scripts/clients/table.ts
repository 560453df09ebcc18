// The table of clients in docs/CLIENTS.md, made of what came of the trials.
import type { Client } from './client.ts';
import { shownVersion } from './packages.ts';
import { COLUMNS, type Outcome, type Outcomes } from './trials.ts';

export interface Row {
  readonly client: Client;
  readonly outcomes: Outcomes;
}

const BEGIN = '<!-- The table is written by npm run test:clients. -->\n';
const END = '<!-- The end of the table. -->\n';

/** As Markdown. `withFaults`: with the reasons of what doesn't work. */
export function renderTable(rows: readonly Row[], { withFaults = false } = {}): string {
  const head = ['Client', 'Version', 'Protocol', 'Setting', ...COLUMNS];
  const cell = (outcome: Outcome): string => {
    if (outcome === 'works') return '✓';
    if (outcome === 'none') return '–';
    return withFaults ? `✗ ${outcome.fault.replaceAll(/[|\s]+/g, ' ').slice(0, 300)}` : '✗';
  };
  const lines = rows.map(({ client, outcomes }) => [
    client.name,
    shownVersion(client),
    client.protocol,
    settingOf(client),
    ...COLUMNS.map((column) => cell(outcomes[column])),
  ]);
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function settingOf({ setting, continueBy }: Client): string {
  return continueBy === '' ? setting : `${setting}; a key with \`--continue-by ${continueBy}\``;
}

/** The page with this table in place of the one it has. */
export function withTable(page: string, table: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from === -1 || to < from) throw new Error('docs/CLIENTS.md has no place for the table');
  return `${page.slice(0, from + BEGIN.length)}\n${table}\n${page.slice(to)}`;
}
