// What an example names and doesn't have: what `docker compose config` and a cluster would refuse, and schemas can't say.
import type { Part } from './check-shape.ts';

type Values = Readonly<Record<string, unknown>>;

/** A value by its path; undefined where something on the way isn't there. */
const at = (of: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isValues(value) ? value[name] : undefined), of);
const isValues = (value: unknown): value is Values => typeof value === 'object' && value !== null;
const listAt = (of: unknown, ...path: readonly string[]) => (at(of, ...path) ?? []) as readonly unknown[];
const namesAt = (of: unknown, ...path: readonly string[]) => Object.keys(at(of, ...path) ?? {});

/** `isFile`: of a path beside the Compose file. What its head tells the reader to make is not asked for. */
export function looseEndsOfCompose(file: Part, isFile: (path: string) => boolean): string[] {
  return Object.entries((at(file, 'services') ?? {}) as Values).flatMap(([name, service]) => {
    const needs = namesAt(service, 'depends_on');
    const mounts = listAt(service, 'volumes').map((volume) => String(volume).split(':')[0]!);
    const volumes = mounts.filter((mount) => !mount.startsWith('.'));
    const files = mounts.filter((mount) => mount.startsWith('.') && !/^\.\/(?:secrets|tls)\//.test(mount));
    const isWaitedFor = (of: string) => at(service, 'depends_on', of, 'condition') === 'service_healthy';
    return [
      ...missing('secret', listAt(service, 'secrets').map(String), namesAt(file, 'secrets')),
      ...missing('service', needs, namesAt(file, 'services')),
      ...missing('volume', volumes, namesAt(file, 'volumes')),
      ...files.filter((path) => !isFile(path)).map((path) => `no file ${path}`),
      ...needs
        .filter((of) => isWaitedFor(of) && at(file, 'services', of, 'healthcheck') === undefined)
        .map((of) => `no healthcheck of ${of}`),
    ].map((problem) => `${name}: ${problem}`);
  });
}

/** For manifests with one StatefulSet. */
export function looseEndsOfManifests(parts: readonly Part[]): string[] {
  const named = (kind: string) =>
    parts.filter((part) => part['kind'] === kind).map((part) => String(at(part, 'metadata', 'name')));
  const set = parts.find(({ kind }) => kind === 'StatefulSet');
  const pod = at(set, 'spec', 'template', 'spec');
  const labels = at(set, 'spec', 'template', 'metadata', 'labels');
  const volumes = listAt(pod, 'volumes');
  const claims = listAt(set, 'spec', 'volumeClaimTemplates').map((claim) => String(at(claim, 'metadata', 'name')));
  const containers = listAt(pod, 'containers');
  const mounts = containers.flatMap((container) => listAt(container, 'volumeMounts'));
  const ports = containers.flatMap((container) => listAt(container, 'ports')).map((port) => String(at(port, 'name')));
  const selectors = parts.flatMap((part) => {
    const selector = at(part, 'spec', 'selector', 'matchLabels') ?? at(part, 'spec', 'selector');
    return selector === undefined
      ? []
      : [{ name: `${String(part['kind'])} ${String(at(part, 'metadata', 'name'))}`, selector }];
  });
  const probes = containers.flatMap((container) =>
    ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => String(at(container, probe, 'httpGet', 'port'))),
  );
  const targets = parts
    .filter(({ kind }) => kind === 'Service')
    .flatMap((service) => listAt(service, 'spec', 'ports').map((port) => String(at(port, 'targetPort'))));
  const backends = parts
    .filter(({ kind }) => kind === 'Ingress')
    .flatMap((ingress) => listAt(ingress, 'spec', 'rules'))
    .flatMap((rule) => listAt(rule, 'http', 'paths'))
    .map((path) => String(at(path, 'backend', 'service', 'name')));
  const configs = volumes.map((volume) => at(volume, 'configMap', 'name')).filter((name) => name !== undefined);
  return [
    ...missing('Service', [String(at(set, 'spec', 'serviceName')), ...backends], named('Service')),
    ...missing('ConfigMap', configs.map(String), named('ConfigMap')),
    ...missing(
      'volume',
      mounts.map((mount) => String(at(mount, 'name'))),
      [...volumes.map((volume) => String(at(volume, 'name'))), ...claims],
    ),
    ...missing('port', [...probes, ...targets], ports),
    ...selectors
      .filter(({ selector }) => JSON.stringify(selector) !== JSON.stringify(labels))
      .map(({ name }) => `${name} selects other pods`),
  ];
}

const missing = (what: string, named: readonly string[], known: readonly string[]): string[] =>
  named.filter((name) => !known.includes(name)).map((name) => `no ${what} ${name}`);
