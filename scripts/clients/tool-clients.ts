// Programs that hand tasks over to Errand, as a tool among theirs: each over HTTP, and by the command that they start.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from './place.ts';
import { runProgram } from './programs.ts';

const ERRAND = fileURLToPath(new URL('../../bin/errand', import.meta.url));
const CPU = process.arch;

export const TASK = 'How high is the tide?';
const ASKED = 'Ask Errand how high the tide is.';

export const WAYS = ['over HTTP', 'by command'] as const;
export type Way = (typeof WAYS)[number];

export interface ToolClient {
  readonly name: string;
  /** As `Client.packages`. */
  readonly packages: readonly string[];
  /** Has it hand over `TASK`. `ownModel`: the address of the model that it thinks with. Returns what it prints. */
  handOver(place: Place, folder: string, facts: { readonly way: Way; readonly ownModel: string }): Promise<string>;
}

const headersOf = ({ key }: Place) => ({ 'x-api-key': key });
const commandOf = ({ url }: Place) => [ERRAND, '--url', url, 'mcp'] as const;
const envOf = ({ key }: Place) => ({ ERRAND_API_KEY: key });

const inspector: ToolClient = {
  name: 'MCP Inspector, `--cli`',
  packages: ['@modelcontextprotocol/inspector@2.12.0'],
  handOver: (place, folder, { way }) => {
    const server =
      way === 'over HTTP'
        ? [`${place.url}/mcp`, '--transport', 'http', '--header', `x-api-key: ${place.key}`]
        : ['-e', `ERRAND_API_KEY=${place.key}`, ...commandOf(place)];
    return runProgram({
      file: path.join(folder, 'node_modules/.bin/mcp-inspector'),
      args: ['--cli', ...server, '--method', 'tools/call', '--tool-name', 'run_task', '--tool-arg', `task=${TASK}`],
      env: {},
      home: place.home,
    });
  },
};

/** The servers as Claude Code and those after it write them. */
function serversOf(place: Place, way: Way, addressed: (url: string) => object): object {
  const [command, ...args] = commandOf(place);
  const overHttp = { ...addressed(`${place.url}/mcp`), headers: headersOf(place) };
  return { mcpServers: { errand: way === 'over HTTP' ? overHttp : { command, args, env: envOf(place) } } };
}

const claudeCode: ToolClient = {
  name: 'Claude Code',
  packages: [`@anthropic-ai/claude-code-linux-${CPU}@2.1.332`],
  handOver: async (place, folder, { way, ownModel }) => {
    const servers = serversOf(place, way, (url) => ({ type: 'http', url }));
    await writeFile(path.join(place.home, 'servers.json'), JSON.stringify(servers));
    return runProgram({
      file: path.join(folder, `node_modules/@anthropic-ai/claude-code-linux-${CPU}/claude`),
      args: ['-p', ASKED, '--mcp-config', '../servers.json', '--allowedTools', 'mcp__errand__run_task'],
      env: { ANTHROPIC_BASE_URL: ownModel, ANTHROPIC_API_KEY: 'none' },
      home: place.home,
    });
  },
};

const openCode: ToolClient = {
  name: 'opencode',
  packages: [`opencode-linux-${CPU}@1.18.33`],
  handOver: async (place, folder, { way, ownModel }) => {
    const own = {
      npm: '@ai-sdk/openai-compatible',
      name: 'Own',
      options: { baseURL: `${ownModel}/v1`, apiKey: 'none' },
      models: { own: { name: 'Own' } },
    };
    const errand =
      way === 'over HTTP'
        ? { type: 'remote', url: `${place.url}/mcp`, headers: headersOf(place) }
        : { type: 'local', command: commandOf(place), environment: envOf(place) };
    const settings = { autoupdate: false, model: 'own/own', provider: { own }, mcp: { errand } };
    await writeFile(path.join(place.home, 'work/opencode.json'), JSON.stringify(settings));
    const file = path.join(folder, `node_modules/opencode-linux-${CPU}/bin/opencode`);
    return runProgram({ file, args: ['run', ASKED], env: {}, home: place.home });
  },
};

const qwenCode: ToolClient = {
  name: 'qwen-code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  handOver: async (place, folder, { way, ownModel }) => {
    const servers = serversOf(place, way, (httpUrl) => ({ httpUrl }));
    await mkdir(path.join(place.home, '.qwen'), { recursive: true });
    await writeFile(path.join(place.home, '.qwen/settings.json'), JSON.stringify(servers));
    return runProgram({
      file: path.join(folder, 'node_modules/.bin/qwen'),
      args: ['--auth-type', 'openai', '--yolo', '-p', ASKED],
      env: { OPENAI_BASE_URL: `${ownModel}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'own' },
      home: place.home,
    });
  },
};

const cline: ToolClient = {
  name: 'cline',
  packages: ['cline@3.0.65'],
  handOver: async (place, folder, { way, ownModel }) => {
    const { home, url } = place;
    const [command, ...args] = commandOf(place);
    const transport =
      way === 'over HTTP'
        ? { type: 'streamableHttp', url: `${url}/mcp`, headers: headersOf(place) }
        : { type: 'stdio', command, args, env: envOf(place) };
    const settings = path.join(home, '.cline/data/settings');
    await mkdir(settings, { recursive: true });
    const servers = { mcpServers: { errand: { transport } } };
    await writeFile(path.join(settings, 'cline_mcp_settings.json'), JSON.stringify(servers));
    const file = path.join(folder, 'node_modules/.bin/cline');
    const auth = ['auth', '-p', 'openai', '-k', 'none', '-b', `${ownModel}/v1`, '-m', 'own'];
    await runProgram({ file, args: auth, env: {}, home });
    return runProgram({ file, args: ['-P', 'openai', '-m', 'own', '-k', 'none', ASKED], env: {}, home });
  },
};

export const TOOL_CLIENTS: readonly ToolClient[] = [inspector, claudeCode, openCode, qwenCode, cline];
