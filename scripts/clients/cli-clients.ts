// Coding CLIs, each as its packages are, set up as docs/CLIENTS.md says. They keep their conversations themselves, and resend them.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Client, WORDS } from './client.ts';
import type { Place } from './place.ts';
import { openScreen, runProgram } from './programs.ts';

const CPU = process.arch;
const OWN_HISTORY = { continueBy: 'history' } as const;
const [FIRST, ...NEXT] = WORDS;

interface Program {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  /** Arguments that say the first words, and those that say more in the same conversation. */
  readonly first: (said: string) => readonly string[];
  readonly next: (said: string) => readonly string[];
}

/** Says all words, a process each. The answer is the last line that each prints. */
async function sayAll(place: Place, folder: string, { file, env, first, next }: Program): Promise<string[]> {
  const answers: string[] = [];
  for (const [index, { said }] of WORDS.entries()) {
    const args = index === 0 ? first(said) : next(said);
    const printed = await runProgram({ file: path.join(folder, 'node_modules', file), args, env, home: place.home });
    answers.push(printed.trim().split('\n').at(-1)!.trim());
  }
  return answers;
}

const claudeCode: Client = {
  name: 'Claude Code',
  packages: [`@anthropic-ai/claude-code-linux-${CPU}@2.1.332`],
  protocol: 'Messages',
  setting: '`ANTHROPIC_BASE_URL` ending in `/openapi`, `ANTHROPIC_API_KEY`',
  continueBy: 'header:x-claude-code-session-id',
  converse: (place, folder) =>
    sayAll(place, folder, {
      file: `@anthropic-ai/claude-code-linux-${CPU}/claude`,
      env: { ANTHROPIC_BASE_URL: `${place.url}/openapi`, ANTHROPIC_API_KEY: place.key },
      first: (said) => ['-p', said],
      next: (said) => ['-p', '--continue', said],
    }),
};

const openCode: Client = {
  name: 'opencode',
  packages: [`opencode-linux-${CPU}@1.18.33`],
  protocol: 'Chat Completions',
  setting: 'a provider with `npm: "@ai-sdk/openai-compatible"` and `options.baseURL` ending in `/openapi/v1`',
  ...OWN_HISTORY,
  converse: async (place, folder) => {
    const options = { baseURL: `${place.url}/openapi/v1`, apiKey: place.key };
    const errand = {
      npm: '@ai-sdk/openai-compatible',
      name: 'Errand',
      options,
      models: { errand: { name: 'Errand' } },
    };
    const settings = { autoupdate: false, model: 'errand/errand', provider: { errand } };
    await writeFile(path.join(place.home, 'work/opencode.json'), JSON.stringify(settings));
    return await sayAll(place, folder, {
      file: `opencode-linux-${CPU}/bin/opencode`,
      env: {},
      first: (said) => ['run', said],
      next: (said) => ['run', '--continue', said],
    });
  },
};

const qwenCode: Client = {
  name: 'qwen-code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  protocol: 'Chat Completions',
  setting: '`OPENAI_BASE_URL` ending in `/openapi/v1`, `OPENAI_API_KEY`, `OPENAI_MODEL`',
  ...OWN_HISTORY,
  converse: (place, folder) =>
    sayAll(place, folder, {
      file: '.bin/qwen',
      env: { OPENAI_BASE_URL: `${place.url}/openapi/v1`, OPENAI_API_KEY: place.key, OPENAI_MODEL: 'errand' },
      first: (said) => ['--auth-type', 'openai', '-p', said],
      next: (said) => ['--auth-type', 'openai', '--continue', '-p', said],
    }),
};

const codex: Client = {
  name: 'codex',
  packages: ['@openai/codex@0.171.0'],
  protocol: 'Responses',
  setting: 'a `model_providers` entry with `base_url` ending in `/openapi/v1` and `wire_api = "responses"`',
  continueBy: 'header:session-id',
  converse: async (place, folder) => {
    await mkdir(path.join(place.home, '.codex'));
    const settings = [
      'model = "errand"',
      'model_provider = "errand"',
      '[model_providers.errand]',
      'name = "Errand"',
      `base_url = "${place.url}/openapi/v1"`,
      'env_key = "ERRAND_KEY"',
      'wire_api = "responses"',
    ];
    await writeFile(path.join(place.home, '.codex/config.toml'), settings.join('\n'));
    const exec = ['exec', '--skip-git-repo-check'];
    return await sayAll(place, folder, {
      file: '.bin/codex',
      env: { ERRAND_KEY: place.key },
      first: (said) => [...exec, said],
      next: (said) => [...exec, 'resume', '--last', said],
    });
  },
};

const continueCli: Client = {
  name: 'Continue',
  packages: ['@continuedev/cli@1.5.47'],
  protocol: 'Chat Completions',
  setting: 'a model with `provider: openai` and `apiBase` ending in `/openapi/v1`',
  ...OWN_HISTORY,
  converse: async (place, folder) => {
    const model = {
      name: 'errand',
      provider: 'openai',
      model: 'errand',
      apiBase: `${place.url}/openapi/v1`,
      apiKey: place.key,
    };
    // YAML takes JSON.
    const settings = JSON.stringify({
      name: 'Errand',
      version: '0.0.1',
      schema: 'v1',
      models: [{ ...model, roles: ['chat'] }],
    });
    await writeFile(path.join(place.home, 'work/config.yaml'), settings);
    return await sayAll(place, folder, {
      file: '.bin/cn',
      env: {},
      first: (said) => ['--config', './config.yaml', '-p', said],
      next: (said) => ['--config', './config.yaml', '-p', '--resume', said],
    });
  },
};

const cline: Client = {
  name: 'cline',
  packages: ['cline@3.0.65'],
  protocol: 'Chat Completions',
  setting: '`cline auth -p openai -b URL -m errand`, with a URL ending in `/openapi/v1`',
  ...OWN_HISTORY,
  converse: async (place, folder) => {
    const file = path.join(folder, 'node_modules/.bin/cline');
    const { home, key, url } = place;
    await runProgram({
      file,
      args: ['auth', '-p', 'openai', '-k', key, '-b', `${url}/openapi/v1`, '-m', 'errand'],
      env: {},
      home,
    });
    const model = ['-P', 'openai', '-m', 'errand', '-k', key];
    const first = await runProgram({ file, args: [...model, FIRST.said], env: {}, home });
    const listed = await runProgram({ file, args: ['history', '--json'], env: {}, home });
    const [{ sessionId }] = JSON.parse(listed) as [{ sessionId: string }];
    // Goes on in a terminal only.
    const screen = await openScreen({ file, args: [...model, '--id', sessionId, '-i'], home });
    try {
      await screen.shows(FIRST.answer);
      for (const { said, answer } of NEXT) await screen.ask(said, `* ${answer}`);
    } finally {
      screen.close();
    }
    return [first.trim(), ...NEXT.map(({ answer }) => answer)];
  },
};

export const CLI_CLIENTS: readonly Client[] = [claudeCode, openCode, qwenCode, codex, cline, continueCli];
