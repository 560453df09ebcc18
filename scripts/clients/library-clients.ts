// Libraries on top of the SDKs that the project doesn't have: installed for the trial, and loaded from there.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type Client, TEXT_FILE, WORDS } from './client.ts';
import type { Place } from './place.ts';

const ASKS = 'How high is the tide?';
const BASE = 'ending in `/openapi/v1`';

/** What a package of the folder exports; the client says what of it there is. */
async function load<T>(folder: string, name: string): Promise<T> {
  const resolved = createRequire(path.join(folder, 'node_modules', 'here.js')).resolve(name);
  return (await import(pathToFileURL(resolved).href)) as T;
}

interface Spoken {
  readonly content: string | readonly object[];
}

/** A chat model of LangChain. */
interface ChatModel {
  invoke(messages: readonly object[]): Promise<Spoken>;
  stream(messages: readonly object[]): Promise<AsyncIterable<Spoken>>;
  withStructuredOutput(schema: unknown): { invoke(asked: string): Promise<unknown> };
}

const textOf = ({ content }: Spoken): string =>
  typeof content === 'string'
    ? content
    : content.map((block) => ('text' in block && typeof block.text === 'string' ? block.text : '')).join('');

/** `TEXT_FILE`, as its users attach it. */
const FILE = {
  type: 'file',
  source_type: 'base64',
  mime_type: TEXT_FILE.mediaType,
  data: TEXT_FILE.bytes.toString('base64'),
  metadata: { filename: TEXT_FILE.name, title: TEXT_FILE.name },
};

/** `modelAt`: its model at a place. */
function langChain(
  about: Pick<Client, 'name' | 'packages' | 'protocol' | 'setting'>,
  modelAt: (place: Place, folder: string) => Promise<ChatModel>,
): Client {
  return {
    ...about,
    continueBy: 'history',
    converse: async (place, folder) => {
      const model = await modelAt(place, folder);
      const messages: object[] = [];
      const answers: string[] = [];
      for (const { said } of WORDS) {
        messages.push({ role: 'user', content: said });
        const answer = await model.invoke(messages);
        messages.push(answer);
        answers.push(textOf(answer));
      }
      return answers;
    },
    stream: async (place, folder) => {
      const stream = await (await modelAt(place, folder)).stream([{ role: 'user', content: ASKS }]);
      return (await Array.fromAsync(stream)).map(textOf).filter((text) => text !== '');
    },
    structured: async (place, folder) => {
      const { z: own } = await load<{ z: typeof z }>(folder, 'zod');
      const model = await modelAt(place, folder);
      return model.withStructuredOutput(own.object({ metres: own.number() })).invoke(ASKS);
    },
    attach: async (place, folder) => {
      const content = [{ type: 'text', text: ASKS }, FILE];
      await (await modelAt(place, folder)).invoke([{ role: 'user', content }]);
    },
  };
}

const langChainOpenAI = langChain(
  {
    name: 'LangChain, `ChatOpenAI`',
    packages: ['@langchain/openai@1.6.0', '@langchain/core@1.4.0', 'zod@4.6.7'],
    protocol: 'Chat Completions',
    setting: `\`configuration.baseURL\` ${BASE}`,
  },
  async ({ url, key }, folder) => {
    const { ChatOpenAI } = await load<{ ChatOpenAI: new (options: object) => ChatModel }>(folder, '@langchain/openai');
    const configuration = { baseURL: `${url}/openapi/v1` };
    return new ChatOpenAI({ model: 'errand', apiKey: key, maxRetries: 0, configuration });
  },
);

const langChainAnthropic = langChain(
  {
    name: 'LangChain, `ChatAnthropic`',
    packages: ['@langchain/anthropic@1.5.11', '@langchain/core@1.4.0', 'zod@4.6.7'],
    protocol: 'Messages',
    setting: '`anthropicApiUrl` ending in `/openapi`',
  },
  async ({ url, key }, folder) => {
    const { ChatAnthropic } = await load<{ ChatAnthropic: new (options: object) => ChatModel }>(
      folder,
      '@langchain/anthropic',
    );
    return new ChatAnthropic({ model: 'errand', apiKey: key, maxRetries: 0, anthropicApiUrl: `${url}/openapi` });
  },
);

interface Completion {
  readonly choices: readonly [{ readonly message: { readonly content: string } }];
}

interface Instructor {
  readonly chat: {
    readonly completions: { create(request: object): Promise<unknown> };
  };
}

async function instructorAt({ url, key }: Place, folder: string): Promise<Instructor> {
  const { default: OpenAI } = await load<{ default: new (options: object) => object }>(folder, 'openai');
  // Its CommonJS file, in which what ES modules export as `default` is a property.
  const { default: exported } = await load<{ default: { default: (options: object) => Instructor } }>(
    folder,
    '@instructor-ai/instructor',
  );
  return exported.default({
    client: new OpenAI({ baseURL: `${url}/openapi/v1`, apiKey: key, maxRetries: 0 }),
    mode: 'TOOLS',
  });
}

const instructor: Client = {
  name: 'instructor',
  packages: ['@instructor-ai/instructor@1.7.0', 'openai@4.104.0', 'zod@3.25.76'],
  protocol: 'Chat Completions',
  setting: `\`baseURL\` ${BASE}, \`mode: "TOOLS"\``,
  continueBy: 'history',
  converse: async (place, folder) => {
    const client = await instructorAt(place, folder);
    const messages: object[] = [];
    const answers: string[] = [];
    for (const { said } of WORDS) {
      messages.push({ role: 'user', content: said });
      const { choices } = (await client.chat.completions.create({ model: 'errand', messages })) as Completion;
      messages.push(choices[0].message);
      answers.push(choices[0].message.content);
    }
    return answers;
  },
  structured: async (place, folder) => {
    const { z: own } = await load<{ z: typeof z }>(folder, 'zod');
    const client = await instructorAt(place, folder);
    const { _meta: _, ...result } = (await client.chat.completions.create({
      model: 'errand',
      messages: [{ role: 'user', content: ASKS }],
      response_model: { schema: own.object({ metres: own.number() }), name: 'Tide' },
    })) as Record<string, unknown>;
    return result;
  },
};

export const LIBRARY_CLIENTS: readonly Client[] = [langChainOpenAI, langChainAnthropic, instructor];
