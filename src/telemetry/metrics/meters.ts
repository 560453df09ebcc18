// The meters: one for each line of the table, over the library that renders them for Prometheus.
import type { Counter, Gauge, Histogram, MetricConfiguration } from 'prom-client';
import { type LabelsOf, METRICS, type Metric, type MetricName, type NameOf } from './metric-table.ts';

/** The metrics of one process. Amounts of counters are never negative. */
export interface Meters {
  add<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, amount: number): void;
  set<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /** Forgets all values of a gauge: those of labels that no longer exist would stay for ever. */
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
    return metric.type === 'counter' ? new library.Counter(config) : new library.Gauge(config);
  };
  const made = new Map(Object.entries(METRICS).map(([name, metric]) => [name, make(name, metric)]));
  // The table guarantees the type that belongs to a name.
  const get = <Type>(name: MetricName) => made.get(name) as Type;
  return {
    add: (name, labels, amount) => get<Counter>(name).inc(labels, amount),
    set: (name, labels, value) => get<Gauge>(name).set(labels, value),
    clear: (name) => get<Gauge>(name).reset(),
    observe: (name, labels, value) => get<Histogram>(name).observe(labels, value),
    render: () => registry.metrics(),
  };
}
