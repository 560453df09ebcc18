// What a run used, and what it cost.

/** Characters per token, before a server has counted any: code and languages other than English have fewer. */
export const CHARACTERS_PER_TOKEN = 3;

/** Tokens as the model server counted them; `inputTokens` includes the cached ones. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** What a call has used. `estimated`: its server reported no count, as when the call broke off or was stopped. */
export interface CallUsage {
  readonly usage: Usage;
  readonly estimated: boolean;
}

/** What fills a model's window at a call, in tokens: instructions, the conversation, and the tools that it may call. */
export interface ContextParts {
  readonly system: number;
  readonly history: number;
  readonly tools: number;
}

/** Prices in US dollars per million tokens (J3). */
export interface Price {
  readonly inputPerMillionUsd: number;
  readonly outputPerMillionUsd: number;
  readonly cacheReadPerMillionUsd: number;
  readonly cacheWritePerMillionUsd: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export const NO_PRICE: Price = {
  inputPerMillionUsd: 0,
  outputPerMillionUsd: 0,
  cacheReadPerMillionUsd: 0,
  cacheWritePerMillionUsd: 0,
};

/** Both counts together. Of the four that people are shown (G12), those of the cache are taken out of the input tokens. */
export function totalTokens({ inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>): number {
  return inputTokens + outputTokens;
}

/** The cost of some usage in US dollars. Cached input is charged at the cache prices, the rest at the input price. */
export function costOf(usage: Usage, price: Price): number {
  const fresh = Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  return (
    (fresh * price.inputPerMillionUsd +
      usage.cacheReadTokens * price.cacheReadPerMillionUsd +
      usage.cacheWriteTokens * price.cacheWritePerMillionUsd +
      usage.outputTokens * price.outputPerMillionUsd) /
    1_000_000
  );
}
