// Checks of what the daemon reaches: the sandbox of its agents, model endpoints, its own public address, and everything else.
import { EGRESS_PURPOSES, type EgressPurpose, type EgressRule } from '../../domain/egress.ts';
import { usesTls } from '../../domain/settings.ts';
import path from 'node:path';
import type { SandboxProbe } from '../../agent/sandbox/sandbox.ts';
import { type Locations, restartOf } from '../../config/locations.ts';
import { publicUrlFor } from '../../config/listen-address.ts';
import { codeOf, messageOf } from '../../domain/errors.ts';
import type { EndpointAnswer } from '../../agent/models/list-models.ts';
import { FAULT_KINDS, faultOfStatus } from '../../agent/models/upstream-fault.ts';
import type { CatalogModel } from '../../catalog/kinds/models.ts';
import { grantModel, resolveModel } from '../../execution/brief/resolve-model.ts';
import { mayConnect, mayUsePort } from '../../outbound/address-rules.ts';
import { UNTRUSTED as UNTRUSTED_CODES } from '../../outbound/ways/missing-issuer.ts';
import { openOwnAgent } from '../../outbound/ways/own-agent.ts';
import { type Ways, waysNow } from '../../outbound/ways/ways.ts';
import { WayError } from '../../outbound/ways/way-error.ts';
import { findInstalled } from '../../service-manager/installed.ts';
import { type Check, failed, type CheckResult, ok, skipped, together, warning } from '../check.ts';
import { byHand } from '../remedies.ts';

const ANSWER_MS = 5_000;

const sandbox: Check = {
  id: 'sandbox',
  title: "The agents' sandbox",
  examine: async ({ sandbox: probe, locations }) => {
    const found = await probe();
    if (!found.ok) return noSandbox(found, locations);
    const { groups, bwrap, owner } = found.grant;
    const words = `${bwrap} confines commands`;
    if (owner === null)
      return warning(
        `${words}, but they run as the daemon's own user, of whose epoll watches one command can take all, which ends the daemon`,
        remedyOfOneUser(locations),
      );
    if (groups !== null) return ok(`${words}, and control groups limit their memory`);
    return ok(`${words}; their memory is watched from outside, as no control group is delegated`);
  },
};

const MAPPED = 'with the package uidmap, begin it as: unshare --user --map-root-user --map-auto errand serve';
const UNIT_WITHOUT_USERS = byHand(
  'the unit gives commands users of their own, unless a drop-in sets ExecStart= or AppArmor restricts user namespaces: systemctl cat errand',
);

/** Where a service is there, this is another Errand beside it, and can't have its place. */
function remedyOfOneUser({ isService }: Locations): string {
  if (isService) return UNIT_WITHOUT_USERS;
  return findInstalled() === null ? `errand service install  # or, ${MAPPED}` : byHand(MAPPED);
}

/** The daemon looks for a sandbox once, when it starts. */
function noSandbox(
  { why, mend }: Pick<SandboxProbe & { ok: false }, 'why' | 'mend'>,
  locations: Locations,
): CheckResult {
  if (mend === null) return warning(why, byHand('see what it says, then start the daemon again'));
  return warning(
    why,
    locations.isService ? `${mend} && ${restartOf(locations)}` : `${mend}  # then start the daemon again`,
  );
}

const models: Check = {
  id: 'models',
  title: 'Model endpoints',
  examine: async ({ catalog, unresolved, locations }) => {
    if (unresolved.size > 0) return skipped(`only the service can read ${[...unresolved].join(', ')}`);
    const { endpoints, models: all } = catalog();
    const used = [...endpoints.values()].filter(({ kind }) => kind !== 'offline');
    if (used.length === 0)
      return warning(
        'only the built-in offline engine, which is no language model',
        byHand(`name a model server in ${path.join(locations.configDir, 'models.yaml')}; errand models check tries it`),
      );
    const { askEndpoint } = await import('../../agent/models/list-models.ts');
    const found = await Promise.all(
      used.map(async (endpoint): Promise<CheckResult> => {
        const names = [...all.values()].filter((model) => model.endpoint === endpoint.name);
        const [first] = names;
        if (first === undefined) return ok(`${endpoint.name} has no models`);
        const answer = await askEndpoint(grantModel(resolveModel(catalog(), first.name)!), ANSWER_MS);
        return check(`${endpoint.name} at ${endpoint.baseUrl}`, names, answer);
      }),
    );
    return together(found, `${used.map(({ name }) => name).join(', ')} answer`);
  },
};

/** What an endpoint's answer to the question for its models means for those that it has to have, of which there is one at least. */
function check(place: string, wanted: readonly CatalogModel[], answer: EndpointAnswer): CheckResult {
  const { name } = wanted[0]!;
  const then = `; errand models check ${name} tries it`;
  if (answer.kind === 'unreachable')
    return failed(
      `${place} can't be reached (${answer.why})`,
      answer.isUntrusted ? TRUST : byHand(`start its server, or correct base_url in models.yaml${then}`),
    );
  if (answer.kind === 'listed') {
    const names = answer.models.map(({ name }) => name);
    const absent = wanted.filter(({ model }) => !names.includes(model)).map(({ model }) => model);
    if (absent.length === 0) return ok(`${place} has its models`);
    return warning(
      `${place} doesn't list ${absent.join(', ')}`,
      byHand(`load it there, or correct model in models.yaml${then}`),
    );
  }
  const { status } = answer;
  if ([401, 403].includes(status))
    return failed(`${place} refuses the key (${status})`, byHand(`put a valid key into its api_key_file${then}`));
  const { kind } = faultOfStatus(status, '');
  if (FAULT_KINDS[kind].isDown)
    return failed(
      `${place} ${FAULT_KINDS[kind].words} (${status})`,
      byHand(`start its server; a proxy in front of it answers 502 or 504 while it can't reach it${then}`),
    );
  return ok(`${place} answers`);
}

const TRUST = 'errand config set tls.ca_file /etc/errand/ca.pem  # a PEM file with the certificate of that issuer';

const publicUrl: Check = {
  id: 'public_url',
  title: 'The public address, from here',
  examine: async ({ settings, daemon }) => {
    const { publicUrl: url } = settings();
    if (daemon.state !== 'running') return skipped('no daemon is running');
    const why = await whyNotErrand(url);
    if (why === null) return ok(`${url} leads to Errand`);
    if (why === UNTRUSTED)
      return warning(
        `${url} ${why}`,
        byHand(`curl --cacert FILE ${url}/healthz, with what clients trust, tells whether they reach it`),
      );
    const usual = publicUrlFor({ listen: settings().listen, isSecure: usesTls(settings()) });
    const isUsualBetter = usual !== url && (await whyNotErrand(usual)) === null;
    const remedy = isUsualBetter ? `errand config set public_url --default  # ${usual} answers` : PUBLIC_URL;
    return failed(`${url} ${why}`, remedy);
  },
};

const PUBLIC_URL = byHand('errand config set public_url URL, with the address that clients use');
const HEALTH_CHARACTERS = 100;

const UNTRUSTED = 'has a certificate whose issuer this machine does not trust, as its clients may';
/** Why an address doesn't lead to Errand; null when it does. */
async function whyNotErrand(url: string): Promise<string | null> {
  const { request } = await import('undici');
  const dispatcher = await openOwnAgent({ connectTimeoutMs: ANSWER_MS });
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { statusCode, body } = await request(`${url}/healthz`, { signal, dispatcher });
    const isHealth = statusCode === 200 && (await beginningOf(body)).includes('"status":"ok"');
    return isHealth ? null : `answers ${statusCode}, and not as Errand does`;
  } catch (error) {
    const code = codeOf(error);
    if (code !== undefined && UNTRUSTED_CODES.has(code)) return UNTRUSTED;
    const why = error instanceof WayError ? error.message.replace(/\.$/, '') : (code ?? messageOf(error));
    return `can't be reached from here (${why})`;
  } finally {
    void dispatcher.destroy();
  }
}

/** The first chunk of a reply says enough: whoever answers there may never end. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  for await (const chunk of body) return chunk.toString('utf8', 0, HEALTH_CHARACTERS);
  return '';
}

/** What should be closed unless someone wants it open. */
const SENSITIVE = {
  'this machine': ['127.0.0.1', '::1'],
  'private networks': ['10.0.0.1', '172.16.0.1', '192.168.0.1', 'fd00::1'],
  'cloud metadata': ['169.254.169.254', 'fd00:ec2::254'],
} as const;

const egress: Check = {
  id: 'egress',
  title: 'What users and agents can reach',
  examine: ({ settings, request }) => {
    if (!request.egress) return skipped('only with --egress');
    const { allow } = settings().egress;
    const rules = allow.length === 0 ? 'no exceptions' : allow.map(wordsOfRule).join('; ');
    const open = Object.entries(SENSITIVE).flatMap(([what, addresses]) => {
      const purposes = EGRESS_PURPOSES.filter((purpose) => addresses.some((at) => isOpen(allow, purpose, at)));
      return purposes.length === 0 ? [] : [{ what, purposes }];
    });
    const words = `the public internet on ports 80 and 443; ${rules}${wordsOfProxies(waysNow())}`;
    if (open.length === 0) return ok(`${words}; this machine, private networks and cloud metadata are closed`);
    const listed = open.map(({ what, purposes }) => `${what} (${purposes.join(', ')})`).join(', ');
    const evidence = `${words}; open: ${listed}`;
    const isMetadata = open.some(({ what }) => what === 'cloud metadata');
    return isMetadata
      ? warning(evidence, "errand config set egress.allow '[]'  # or narrower exceptions")
      : ok(evidence);
  },
};

/** Through which proxies, and who decides where names lead. */
function wordsOfProxies({ proxies, proxyResolves }: Ways): string {
  const urls = new Set(Object.values(proxies).flatMap((proxy) => proxy?.url ?? []));
  if (urls.size === 0) return '';
  const who = proxyResolves ? 'which decides where names lead' : 'which gets addresses that were checked here';
  return `; through the proxy ${[...urls].join(' and ')}, ${who}`;
}

/** Whether any port is open, as far as the rules name ports; web ports otherwise. */
function isOpen(allow: readonly EgressRule[], purpose: EgressPurpose, address: string): boolean {
  const ports = new Set([80, 443, ...allow.flatMap((rule) => rule.ports ?? [])]);
  return [...ports].some((port) => {
    const place = { host: address, port };
    const policy = { purpose, allow };
    return mayUsePort(policy, place) && mayConnect(policy, place, address);
  });
}

function wordsOfRule({ cidr, host, ports, for: purposes }: EgressRule): string {
  return `${cidr ?? host} ${ports === null ? 'on all ports' : `on ${ports.join(', ')}`} for ${purposes.join(', ')}`;
}

export const REACH_CHECKS: readonly Check[] = [sandbox, models, publicUrl, egress];
