// The meters: one for each line of the table, over the library that renders them for Prometheus.
import type { Counter, Gauge, Histogram, MetricConfiguration } from 'prom-client';
import { type LabelsOf, METRICS, type Metric, type MetricName, type NameOf } from './metric-table.ts';

/** The metrics of one process. Amounts of counters are never negative. */
export interface Meters {
  add<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, amount: number): void;
  set<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Removes all values of a gauge: what was measured earlier must not pass for what is so now. */
  clear(name: NameOf<'gauge'>): void;
  observe<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** All metrics in the text format of Prometheus, version 0.0.4. */
  render(): Promise<string>;
}

/** Opens the meters. The library is loaded only here: without metrics, it takes neither time nor memory. */
export async function openMeters(): Promise<Meters> {
  const { default: library } = await import('prom-client');
  const registry = new library.Registry();
  const make = (name: string, metric: Metric) => {
    const { help } = metric;
    const labelNames = [...metric.labels];
    const config: MetricConfiguration<string> = { name, help, labelNames, registers: [registry] };
    if (metric.type === 'histogram') return new library.Histogram({ ...config, buckets: [...metric.buckets] });
    return metric.type === 'counter' ? new library.Counter(config) : empty(name, new library.Gauge(config));
  };
  const made = new Map(Object.entries(METRICS).map(([name, metric]) => [name, make(name, metric)]));
  // The table guarantees the type that belongs to a name.
  const get = <Type>(name: MetricName) => made.get(name) as Type;
  return {
    add: (name, labels, amount) => get<Counter>(name).inc(labels, amount),
    set: (name, labels, value) => get<Gauge>(name).set(labels, value),
    clear: (name) => void empty(name, get<Gauge>(name)),
    observe: (name, labels, value) => get<Histogram>(name).observe(labels, value),
    render: () => registry.metrics(),
  };
}

/** One without labels begins at 0, and is reset to it: 0 bytes of free space, before anybody has looked. */
function empty(name: string, gauge: Gauge): Gauge {
  gauge.reset();
  if (METRICS[name as MetricName].labels.length === 0) gauge.remove();
  return gauge;
}
