// Definitions as administrators read them. Values that may contain a secret are omitted; their names are shown.
import type { ConnectorDefinition, McpServerDefinition } from '../../catalog/definitions.ts';
import type { Problem } from '../../catalog/reading/problem.ts';
import { makeRedactor } from '../../outbound/secrets/redact.ts';
import { secretsInArguments } from '../../outbound/secrets/written-secrets.ts';
import type { DefinitionNoun, DefinitionOf, DefinitionRecord } from '../../operations/capabilities/definitions.ts';
import type { Defined, DefinitionCheckWire, DefinitionWire } from '../../wire/capabilities/definition.ts';

type Facts = {
  readonly [N in DefinitionNoun]: (definition: DefinitionOf<N>) => Omit<DefinitionWire<N>, keyof Defined>;
};

const FACTS: Facts = {
  experts: (expert) => ({
    plugin: expert.plugin,
    model: expert.model,
    tools: expert.tools,
    skills: expert.skills,
    mcp_servers: expert.mcpServers,
    connectors: expert.connectors,
    plugins: expert.plugins,
    subagents: expert.subagents,
    browser: expert.browser,
  }),
  'expert-teams': ({ lead, members }) => ({ lead, members }),
  skills: (skill) => ({
    plugin: skill.plugin,
    license: skill.license,
    compatibility: skill.compatibility,
    metadata: skill.metadata,
    allowed_tools: skill.allowedTools,
    enabled_by_default: skill.enabledByDefault,
  }),
  plugins: ({ version, skills, mcpServers, experts }) => ({ version, skills, mcp_servers: mcpServers, experts }),
  'mcp-servers': (server) => ({
    plugin: server.plugin,
    ...transportOf(server),
    start_timeout_seconds: server.startTimeoutMs / 1_000,
    call_timeout_seconds: server.callTimeoutMs / 1_000,
    tools: server.tools,
    enabled_by_default: server.enabledByDefault,
  }),
  connectors: ({ baseUrl, auth, methods, paths }) => ({ base_url: baseUrl, auth: authOf(auth), methods, paths }),
};

function transportOf({ transport }: McpServerDefinition) {
  const names = (values: object, files: object) => [...Object.keys(values), ...Object.keys(files)];
  if (transport.kind === 'http') {
    const { origin, pathname } = new URL(transport.url);
    // The query of an address may contain a key.
    return { kind: 'http' as const, url: origin + pathname, headers: names(transport.headers, transport.headerFiles) };
  }
  const { command, env, envFiles, folders, network } = transport;
  const redact = makeRedactor(secretsInArguments(transport.args));
  const args = transport.args.map((arg) => redact(arg).text);
  return { kind: 'stdio' as const, command, args, env: names(env, envFiles), folders, network };
}

function authOf({ kind, header, tokenUrl, clientId, scopes }: ConnectorDefinition['auth']) {
  return { kind, header, token_url: tokenUrl, client_id: clientId, scopes };
}

/** A definition with its id, without `instructions`: only a single definition shows them. */
export function renderDefinition<N extends DefinitionNoun>({
  noun,
  id,
  definition,
}: DefinitionRecord<N>): DefinitionWire<N> {
  const { name, description, file } = definition;
  return { id, name, description, file, ...FACTS[noun](definition) } as DefinitionWire<N>;
}

/** A complete definition. */
export function renderWholeDefinition<N extends DefinitionNoun>(record: DefinitionRecord<N>): DefinitionWire<N> {
  const { definition } = record;
  return {
    ...renderDefinition(record),
    ...('instructions' in definition ? { instructions: definition.instructions } : {}),
  };
}

/** The outcome of a check. */
export function renderProblems(problems: readonly Problem[]): DefinitionCheckWire {
  return { ok: problems.length === 0, problems };
}
