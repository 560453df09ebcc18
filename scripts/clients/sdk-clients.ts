// The official SDKs and the libraries on top of them, each in its default way.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import { generateText, type LanguageModel, type ModelMessage, Output, streamText } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { type Client, TEXT_FILE, WORDS } from './client.ts';
import type { Place } from './place.ts';

const TIDE = z.object({ metres: z.number() });
const ASKS = 'How high is the tide?';
const DATA_URL = `data:${TEXT_FILE.mediaType};base64,${TEXT_FILE.bytes.toString('base64')}`;
const OPENAI_BASE = '`baseURL` ending in `/openapi/v1`';

const openaiAt = ({ url, key }: Place) => new OpenAI({ baseURL: `${url}/openapi/v1`, apiKey: key, maxRetries: 0 });
const anthropicAt = ({ url, key }: Place) => new Anthropic({ baseURL: `${url}/openapi`, apiKey: key, maxRetries: 0 });

const openaiChat: Client = {
  name: 'OpenAI, `chat.completions`',
  packages: ['openai'],
  protocol: 'Chat Completions',
  setting: OPENAI_BASE,
  continueBy: 'history',
  converse: async (place) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [];
    const answers: string[] = [];
    for (const { said } of WORDS) {
      messages.push({ role: 'user', content: said });
      const { choices } = await openaiAt(place).chat.completions.create({ model: 'errand', messages });
      messages.push(choices[0]!.message);
      answers.push(choices[0]!.message.content ?? '');
    }
    return answers;
  },
  stream: async (place) => {
    const messages = [{ role: 'user' as const, content: ASKS }];
    const stream = await openaiAt(place).chat.completions.create({ model: 'errand', stream: true, messages });
    const chunks = await Array.fromAsync(stream);
    return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').filter((text) => text !== '');
  },
  structured: async (place) => {
    const { choices } = await openaiAt(place).chat.completions.parse({
      model: 'errand',
      messages: [{ role: 'user', content: ASKS }],
      response_format: zodResponseFormat(TIDE, 'tide'),
    });
    return choices[0]!.message.parsed;
  },
  attach: (place) =>
    openaiAt(place).chat.completions.create({
      model: 'errand',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: ASKS },
            { type: 'file', file: { filename: TEXT_FILE.name, file_data: DATA_URL } },
          ],
        },
      ],
    }),
};

const openaiResponses: Client = {
  name: 'OpenAI, `responses`',
  packages: ['openai'],
  protocol: 'Responses',
  setting: `${OPENAI_BASE}, \`previous_response_id\``,
  continueBy: '',
  converse: async (place) => {
    const answers: string[] = [];
    let previous: string | null = null;
    for (const { said } of WORDS) {
      const response: OpenAI.Responses.Response = await openaiAt(place).responses.create({
        model: 'errand',
        input: said,
        previous_response_id: previous,
      });
      previous = response.id;
      answers.push(response.output_text);
    }
    return answers;
  },
  stream: async (place) => {
    const stream = await openaiAt(place).responses.create({ model: 'errand', input: ASKS, stream: true });
    const events = await Array.fromAsync(stream);
    return events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []));
  },
  structured: async (place) => {
    const text = { format: zodTextFormat(TIDE, 'tide') };
    return (await openaiAt(place).responses.parse({ model: 'errand', input: ASKS, text })).output_parsed;
  },
  attach: (place) => {
    const file = { type: 'input_file' as const, filename: TEXT_FILE.name, file_data: DATA_URL };
    const content = [{ type: 'input_text' as const, text: ASKS }, file];
    return openaiAt(place).responses.create({ model: 'errand', input: [{ role: 'user', content }] });
  },
};

const anthropic: Client = {
  name: 'Anthropic',
  packages: ['@anthropic-ai/sdk'],
  protocol: 'Messages',
  setting: '`baseURL` ending in `/openapi`',
  continueBy: 'history',
  converse: async (place) => {
    const messages: Anthropic.MessageParam[] = [];
    for (const { said } of WORDS) {
      messages.push({ role: 'user', content: said });
      const { content } = await anthropicAt(place).messages.create({ model: 'errand', max_tokens: 99, messages });
      messages.push({ role: 'assistant', content });
    }
    return messages.flatMap(({ role, content }) => (role === 'assistant' ? [textOf(content)] : []));
  },
  stream: async (place) => {
    const pieces: string[] = [];
    const stream = anthropicAt(place).messages.stream({
      model: 'errand',
      max_tokens: 99,
      messages: [{ role: 'user', content: ASKS }],
    });
    stream.on('text', (text) => pieces.push(text));
    await stream.finalMessage();
    return pieces;
  },
  structured: async (place) => {
    const message = await anthropicAt(place).messages.parse({
      model: 'errand',
      max_tokens: 99,
      messages: [{ role: 'user', content: ASKS }],
      output_config: { format: zodOutputFormat(TIDE) },
    });
    return message.parsed_output;
  },
  attach: (place) =>
    anthropicAt(place).messages.create({
      model: 'errand',
      max_tokens: 99,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: ASKS },
            {
              type: 'document',
              title: TEXT_FILE.name,
              source: { type: 'base64', media_type: TEXT_FILE.mediaType, data: TEXT_FILE.bytes.toString('base64') },
            },
          ],
        },
      ],
    }),
};

function textOf(content: Anthropic.MessageParam['content']): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** A provider of the AI SDK. `modelAt`: its model, at a place. */
function aiSdk(
  about: Pick<Client, 'name' | 'packages' | 'protocol' | 'setting'>,
  modelAt: (place: Place) => LanguageModel,
): Client {
  const call = (place: Place) => ({ model: modelAt(place), maxRetries: 0 });
  return {
    ...about,
    continueBy: 'history',
    converse: async (place) => {
      const messages: ModelMessage[] = [];
      const answers: string[] = [];
      for (const { said } of WORDS) {
        messages.push({ role: 'user', content: said });
        const { text, response } = await generateText({ ...call(place), messages });
        messages.push(...response.messages);
        answers.push(text);
      }
      return answers;
    },
    stream: async (place) => await Array.fromAsync(streamText({ ...call(place), prompt: ASKS }).textStream),
    structured: async (place) => {
      const output = Output.object({ schema: TIDE });
      return (await generateText({ ...call(place), prompt: ASKS, output })).output;
    },
    attach: async (place) => {
      const file = {
        type: 'file' as const,
        filename: TEXT_FILE.name,
        mediaType: TEXT_FILE.mediaType,
        data: TEXT_FILE.bytes,
      };
      const content = [{ type: 'text' as const, text: ASKS }, file];
      await generateText({ ...call(place), messages: [{ role: 'user', content }] });
    },
  };
}

const at = ({ url, key }: Place) => ({ baseURL: `${url}/openapi/v1`, apiKey: key });
const aiSdks = [
  aiSdk(
    { name: 'AI SDK, `createOpenAI`', packages: ['@ai-sdk/openai'], protocol: 'Responses', setting: OPENAI_BASE },
    (place) => createOpenAI(at(place))('errand'),
  ),
  aiSdk(
    {
      name: 'AI SDK, `createOpenAI().chat`',
      packages: ['@ai-sdk/openai'],
      protocol: 'Chat Completions',
      setting: OPENAI_BASE,
    },
    (place) => createOpenAI(at(place)).chat('errand'),
  ),
  aiSdk(
    {
      name: 'AI SDK, `createOpenAICompatible`',
      packages: ['@ai-sdk/openai-compatible'],
      protocol: 'Chat Completions',
      setting: `${OPENAI_BASE}, \`supportsStructuredOutputs: true\``,
    },
    (place) => createOpenAICompatible({ ...at(place), name: 'errand', supportsStructuredOutputs: true })('errand'),
  ),
  aiSdk(
    { name: 'AI SDK, `createAnthropic`', packages: ['@ai-sdk/anthropic'], protocol: 'Messages', setting: OPENAI_BASE },
    (place) => createAnthropic(at(place))('errand'),
  ),
];

/** An agent of the library, whose requests go to the place. */
function agentsAt(place: Place) {
  // Traces would go to OpenAI.
  setTracingDisabled(true);
  return new Runner({ modelProvider: new OpenAIProvider({ openAIClient: openaiAt(place) }) });
}
const agents: Client = {
  name: 'OpenAI Agents',
  packages: ['@openai/agents'],
  protocol: 'Responses',
  setting: 'an `OpenAIProvider` with the OpenAI client; `previousResponseId` in `run`; `setTracingDisabled(true)`',
  continueBy: '',
  converse: async (place) => {
    const agent = new Agent({ name: 'Harbour', model: 'errand' });
    const answers: string[] = [];
    let previous: string | undefined;
    for (const { said } of WORDS) {
      const more = previous === undefined ? {} : { previousResponseId: previous };
      const { finalOutput, lastResponseId } = await agentsAt(place).run(agent, said, more);
      previous = lastResponseId;
      answers.push(String(finalOutput));
    }
    return answers;
  },
  stream: async (place) => {
    const agent = new Agent({ name: 'Harbour', model: 'errand' });
    const result = await agentsAt(place).run(agent, ASKS, { stream: true });
    return await Array.fromAsync(result.toTextStream());
  },
  structured: async (place) => {
    const agent = new Agent({ name: 'Harbour', model: 'errand', outputType: TIDE });
    return (await agentsAt(place).run(agent, ASKS)).finalOutput;
  },
};

export const SDK_CLIENTS: readonly Client[] = [openaiChat, openaiResponses, anthropic, ...aiSdks, agents];
