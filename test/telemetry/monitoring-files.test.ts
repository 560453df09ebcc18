// The dashboard and the alert rules name metrics that exist, with labels that they have.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { METRICS, type Metric } from '../../src/telemetry/metrics/metric-table.ts';

const file = (name: string) => fileURLToPath(new URL(`../../config/monitoring/${name}`, import.meta.url));
const read = (name: string) => readFileSync(file(name), 'utf8');

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
  readonly panels: readonly Panel[];
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const dashboard = JSON.parse(read('grafana-dashboard.json')) as Dashboard;
const rules = (parse(read('alerts.yaml')) as Rules).groups.flatMap((group) => group.rules);
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const expressions = [
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.templating.list.flatMap(({ definition }) => definition ?? []),
  ...rules.map(({ expr }) => expr),
];

const isMetric = /\b(?:errand|process|nodejs)_[a-z0-9_]+/g;
/** Labels that Prometheus itself adds to each series. */
const OF_PROMETHEUS = ['job', 'instance', 'le'];

/** The line of the table that a name in an expression stands for. */
function metricOf(name: string): Metric | undefined {
  const table: Readonly<Record<string, Metric>> = METRICS;
  const whole = name.replace(/_(bucket|sum|count)$/, '');
  const found = table[name];
  return found ?? (table[whole]?.type === 'histogram' ? table[whole] : undefined);
}

test('every metric that the dashboard and the alerts name is in the table', () => {
  const names = expressions.flatMap((expression) => expression.match(isMetric) ?? []);
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => metricOf(name) === undefined)).toEqual([]);
});

test('every label in a selector is one of its metric', () => {
  const selectors = expressions.flatMap((expression) => [...expression.matchAll(/\b(errand_[a-z0-9_]+)\{([^}]*)\}/g)]);
  expect(selectors.length).toBeGreaterThan(40);
  const unknown = selectors.flatMap(([whole, name = '', inside = '']) => {
    const labels = [...inside.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)"/g)].map((match) => match[1]!);
    const known: readonly string[] = [...OF_PROMETHEUS, ...(metricOf(name)?.labels ?? [])];
    return labels.every((label) => known.includes(label)) ? [] : [whole];
  });
  expect(unknown).toEqual([]);
});

test('counters and histograms are looked at by their change, and gauges are not', () => {
  const wrong = expressions.flatMap((expression) =>
    [...expression.matchAll(/(?:(\w+)\()?\b(errand_[a-z0-9_]+)(?:\{[^}]*\})?/g)].flatMap(
      ([whole, reader, name = '']) => {
        const changes = reader === 'rate' || reader === 'increase';
        const isGauge = metricOf(name)?.type === 'gauge';
        return changes === isGauge ? [whole] : [];
      },
    ),
  );
  expect(wrong).toEqual([]);
});

test('every panel has a number, a title and a query of its own, and reads the data source that is chosen', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  expect(panels.filter(({ title, targets = [] }) => title === '' || targets.length === 0)).toEqual([]);
  expect(dashboard.templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource' });
  const sources = [...read('grafana-dashboard.json').matchAll(/"uid": "([^"]+)"/g)].map((match) => match[1]);
  expect(new Set(sources)).toEqual(new Set(['${datasource}', 'errand']));
});

test('every metric of the table has help in sentences, and labels from closed sets or with a bound', () => {
  const labels = new Set(Object.values(METRICS).flatMap((metric: Metric) => metric.labels));
  expect([...labels].sort()).toEqual(
    [
      'direction',
      'endpoint',
      'engine',
      'kind',
      'method',
      'mode',
      'model',
      'node_version',
      'outcome',
      'part',
      'period',
      'route',
      'stat',
    ].concat(['state', 'status', 'team', 'type', 'unit', 'verb', 'version']),
  );
  expect(Object.values(METRICS).filter(({ help }) => !/^[A-Z1].*\.$/.test(help))).toEqual([]);
});

test('the document lists every metric, as the table has it', () => {
  const lines = readFileSync(fileURLToPath(new URL('../../docs/MONITORING.md', import.meta.url)), 'utf8').split('\n');
  const rows = Object.entries(METRICS).map(([name, { type, labels, help }]: [string, Metric]) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  expect(lines.filter((line) => line.startsWith('| `errand_') || line.startsWith('| `process_'))).toEqual(rows);
});

test.for([
  { what: 'the alert rules', rulesFile: () => file('alerts.yaml') },
  { what: 'the queries of the dashboard', rulesFile: queriesAsRules },
])('promtool accepts $what', ({ rulesFile }, { skip }) => {
  const { error, status, stderr } = spawnSync('promtool', ['check', 'rules', rulesFile()], { encoding: 'utf8' });
  if (error !== undefined) skip('SKIPPED: there is no promtool on this machine');
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

/** A file with a rule for each query, in which Grafana's variables have values. */
function queriesAsRules(): string {
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const recorded = queries.map((query, at) => {
    const expr = query.replaceAll(/\$__\w+/g, '5m').replaceAll(/\$\w+|\$\{\w+\}/g, 'x');
    expect(expr).not.toContain('$');
    return { record: `query:${at}`, expr };
  });
  const rulesFile = join(temporaryDirectory(), 'rules.json');
  writeFileSync(rulesFile, JSON.stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
  return rulesFile;
}

test('panels lie within the 24 columns of the dashboard, and none lies on another', () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x < 0 || w < 1 || x + w > 24)).toEqual([]);
  expect(new Set(cells).size).toBe(cells.length);
});

test('each query of a panel has a letter of its own', () => {
  for (const { title, targets = [] } of panels)
    expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
});
