// A model as a brief gets it.
import { makeHalt } from '../../../src/domain/halt.ts';
import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import type { BriefFor } from '../../../src/execution/brief/brief.ts';
import type { ResolvedModel } from '../../../src/execution/brief/resolve-model.ts';

const MODEL: ResolvedModel = {
  model: {
    name: 'scripted',
    endpoint: 'local',
    model: 'scripted',
    contextWindow: 32_000,
    maxOutputTokens: 1_000,
    images: false,
    documents: false,
    structured: 'tool',
    thinkingTags: false,
    price: {
      inputPerMillionUsd: 0,
      outputPerMillionUsd: 0,
      cacheReadPerMillionUsd: 0,
      cacheWritePerMillionUsd: 0,
    },
  },
  endpoint: {
    name: 'local',
    kind: 'openai',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: null,
    caFile: null,
    maxInFlight: null,
    extras: NO_EXTRAS,
  },
};

export const GIVEN: BriefFor = { model: MODEL, hasNotes: false, announces: 'first', off: makeHalt() };
