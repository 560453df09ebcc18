// The tables of clients in docs/CLIENTS.md, made of what came of the trials.
import type { Client } from './client.ts';
import { shownVersion } from './packages.ts';
import { type ToolClient, WAYS, type Way } from './tool-clients.ts';
import { COLUMNS, type Outcome, type Outcomes } from './trials.ts';

export interface Row {
  readonly client: Client;
  readonly outcomes: Outcomes;
}

export interface ToolRow {
  readonly client: ToolClient;
  readonly outcomes: Readonly<Record<Way, Outcome>>;
}

/** Where a table is in the page. */
export const PLACES = {
  clients: ['<!-- The table is written by npm run test:clients. -->\n', '<!-- The end of the table. -->\n'],
  toolClients: [
    '<!-- The table of tools is written by npm run test:clients. -->\n',
    '<!-- The end of the table of tools. -->\n',
  ],
} as const;

/** As Markdown. `withFaults`: with the reasons of what doesn't work. */
export function renderTable(rows: readonly Row[], { withFaults = false } = {}): string {
  const lines = rows.map(({ client, outcomes }) => [
    client.name,
    shownVersion(client),
    client.protocol,
    settingOf(client),
    ...COLUMNS.map((column) => cellOf(outcomes[column], withFaults)),
  ]);
  return markdownOf(['Client', 'Version', 'Protocol', 'Setting', ...COLUMNS], lines);
}

/** The same, of programs that hand tasks over. */
export function renderToolTable(rows: readonly ToolRow[], { withFaults = false } = {}): string {
  const lines = rows.map(({ client, outcomes }) => [
    client.name,
    shownVersion(client),
    ...WAYS.map((way) => cellOf(outcomes[way], withFaults)),
  ]);
  return markdownOf(['Client', 'Version', ...WAYS], lines);
}

const markdownOf = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

function cellOf(outcome: Outcome, withFaults: boolean): string {
  if (outcome === 'works') return '✓';
  if (outcome === 'none') return '–';
  return withFaults ? `✗ ${outcome.fault.replaceAll(/[|\s]+/g, ' ').slice(0, 300)}` : '✗';
}

function settingOf({ setting, continueBy }: Client): string {
  return continueBy === '' ? setting : `${setting}; a key with \`--continue-by ${continueBy}\``;
}

/** The page with this table in place of the one that it has there. */
export function withTable(page: string, [begin, end]: (typeof PLACES)[keyof typeof PLACES], table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error('docs/CLIENTS.md has no place for the table');
  return `${page.slice(0, from + begin.length)}\n${table}\n${page.slice(to)}`;
}
