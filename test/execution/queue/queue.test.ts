import { expect, test } from 'vitest';
import { NO_DEFINITIONS } from '../../../src/catalog/definitions.ts';
import type { Catalog } from '../../../src/catalog/models.ts';
import { modelOf } from '../../../src/execution/queue/queue.ts';

const catalog: Catalog = {
  endpoints: new Map(),
  models: new Map(),
  scenarios: new Map([
    ['general', { name: 'general', model: 'small' }],
    ['careful', { name: 'careful', model: 'large' }],
  ]),
  defaultScenario: 'general',
};

test.each([
  { why: "the key's own model wins", keyModel: 'fixed', scenario: 'careful', model: 'fixed' },
  { why: "else that of the owner's scenario", keyModel: null, scenario: 'careful', model: 'large' },
  { why: 'else that of the default scenario', keyModel: null, scenario: null, model: 'small' },
  { why: 'a scenario that is gone has none', keyModel: null, scenario: 'gone', model: null },
  {
    why: "a key's model is named though the catalog may have lost it",
    keyModel: 'lost',
    scenario: null,
    model: 'lost',
  },
])('the model of a run: $why', ({ keyModel, scenario, model }) => {
  const choice = { keyModel, scenario, target: 'free', leadModel: null };
  expect(modelOf({ catalog, definitions: NO_DEFINITIONS }, choice)).toBe(model);
});
