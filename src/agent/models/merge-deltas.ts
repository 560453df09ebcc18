// Reduces a model's stream before the AI SDK sees it: deltas that arrive together become one.
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { currentObservation, type ReplyObservation } from './observation.ts';

type Part = LanguageModelV4StreamPart;
type Delta = Extract<Part, { type: 'text-delta' | 'reasoning-delta' }>;

/** Parts that carry some of the reply. Others announce a message or a block, perhaps long before its first token. */
const TOKENS: ReadonlySet<Part['type']> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-input-delta',
  'tool-call',
]);

/**
 * The same model with fewer parts: merges adjacent text that arrives in one turn of the event loop, and drops deltas of tool
 * arguments (the complete call follows). Calls `onToken` for each part that carries some of the reply. Records in `observation`
 * what its bytes show. The SDK spends three times as much on a delta as the protocol's parser, so this determines the cost of a
 * token.
 */
export function withMergedDeltas(
  model: LanguageModelV4,
  observation: ReplyObservation,
  onToken: () => void,
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options) => model.doGenerate(options),
    doStream: async (options) => {
      const result = await currentObservation.run(observation, () => model.doStream(options));
      return { ...result, stream: mergeDeltas(result.stream, onToken) };
    },
  };
}

/** Merges adjacent deltas of one block; every other part passes in its place. */
export function mergeDeltas(source: ReadableStream<Part>, onToken: () => void = () => undefined): ReadableStream<Part> {
  const reader = source.getReader();
  let merger: Merger | undefined;
  let hungry: (() => void) | undefined;

  const pump = async (controller: ReadableStreamDefaultController<Part>, { take, flush }: Merger) => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (isToken(value)) onToken();
      take(value);
      // A consumer that lags slows the upstream down instead of filling our memory.
      if ((controller.desiredSize ?? 1) <= 0) await new Promise<void>((resolve) => (hungry = resolve));
    }
    flush();
    controller.close();
  };
  return new ReadableStream<Part>(
    {
      start: (controller) => {
        merger = makeMerger((part) => controller.enqueue(part));
        const { drop } = merger;
        pump(controller, merger).catch((error: unknown) => {
          drop();
          controller.error(error);
        });
      },
      pull: () => {
        hungry?.();
        hungry = undefined;
      },
      cancel: (reason) => {
        merger?.drop();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 16 },
  );
}

interface Merger {
  take(part: Part): void;
  /** Passes on what is buffered. */
  flush(): void;
  /** Discards what is buffered. */
  drop(): void;
}

function makeMerger(emit: (part: Part) => void): Merger {
  let pending: Delta | undefined;
  let turn: NodeJS.Immediate | undefined;

  const drop = () => {
    clearImmediate(turn);
    turn = undefined;
    pending = undefined;
  };
  const flush = () => {
    const part = pending;
    drop();
    if (part !== undefined) emit(part);
  };
  const take = (part: Part) => {
    if (part.type === 'tool-input-delta') return;
    if (!isPlainDelta(part)) {
      flush();
      emit(part);
      return;
    }
    if (pending?.type === part.type && pending.id === part.id) {
      pending = { ...pending, delta: pending.delta + part.delta };
    } else {
      flush();
      pending = part;
    }
    turn ??= setImmediate(flush);
  };
  return { take, flush, drop };
}

function isToken(part: Part): boolean {
  if (!TOKENS.has(part.type)) return false;
  return !('delta' in part) || part.delta !== '' || part.providerMetadata !== undefined;
}

function isPlainDelta(part: Part): part is Delta {
  return (part.type === 'text-delta' || part.type === 'reasoning-delta') && part.providerMetadata === undefined;
}
