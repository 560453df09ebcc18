// A worker's grant of an MCP server, with its secrets read from their files.
import type { McpGrant } from '../../agent/port/grants.ts';
import type { McpServerDefinition } from '../../catalog/definitions.ts';
import {
  HEADER_SECRET,
  readSecret,
  type SecretForm,
  type SecretLocations,
  TEXT_SECRET,
} from '../../catalog/reading/secret-file.ts';
import { secretsAmong, secretsInArguments } from '../../outbound/secrets/written-secrets.ts';

/** `why` never contains a secret. */
export type McpGranted = { readonly ok: true; readonly grant: McpGrant } | { readonly ok: false; readonly why: string };

/** The grant of a server. If one secret can't be read now, the server is not granted. */
export function grantMcpServer(server: McpServerDefinition, locations: SecretLocations): McpGranted {
  const { name, transport, startTimeoutMs, callTimeoutMs, tools } = server;
  const isStdio = transport.kind === 'stdio';
  const files = isStdio ? transport.envFiles : transport.headerFiles;
  const read = readSecrets(files, locations, isStdio ? TEXT_SECRET : HEADER_SECRET);
  if ('why' in read) return { ok: false, why: read.why };
  const granted: McpGrant['transport'] = isStdio
    ? {
        kind: 'stdio',
        command: transport.command,
        args: transport.args,
        env: { ...transport.env, ...read.secrets },
        folders: transport.folders,
        network: transport.network,
      }
    : {
        kind: 'http',
        url: transport.url,
        headers: { ...transport.headers, ...read.secrets },
        caFile: transport.caFile,
      };
  const secrets = [...Object.values(read.secrets), ...plainSecrets(transport)];
  return { ok: true, grant: { name, secrets, transport: granted, startTimeoutMs, callTimeoutMs, tools } };
}

/** Secrets that were written into the definition itself. */
function plainSecrets(transport: McpServerDefinition['transport']): string[] {
  if (transport.kind === 'http')
    return secretsAmong([...Object.entries(transport.headers), ...new URL(transport.url).searchParams]);
  return [...secretsAmong(Object.entries(transport.env)), ...secretsInArguments(transport.args)];
}

function readSecrets(
  files: Readonly<Record<string, string>>,
  locations: SecretLocations,
  form: SecretForm,
): { readonly secrets: Readonly<Record<string, string>> } | { readonly why: string } {
  const secrets: Record<string, string> = {};
  for (const [name, reference] of Object.entries(files)) {
    const read = readSecret(reference, locations, form);
    if (!read.ok) return { why: `the file of ${name} ${read.why}` };
    secrets[name] = read.secret;
  }
  return { secrets };
}
