// The prompt and the steps of a task: what a change makes of them, and which ids stay.
import { describe, expect, test } from 'vitest';
import { isUuid } from '../../../src/domain/ids.ts';
import { changedWork, type TaskWork, type WantedWork } from '../../../src/operations/schedules/task-steps.ts';

const [ONE, TWO, OTHER] = [1, 2, 3].map((no) => `0198c0de-0000-7000-8000-00000000000${no}`) as [string, string, string];
const added = (prompt: string) => ({ id: null, prompt });
const kept = (id: string, prompt: string) => ({ id, prompt });
const PROMPT: TaskWork = { prompt: 'Write', steps: [kept(ONE, 'Write')] };
const STEPS: TaskWork = { prompt: null, steps: [kept(ONE, 'Collect'), kept(TWO, 'Write')] };
const BOTH: TaskWork = { prompt: 'Tides', steps: [kept(ONE, 'Collect'), kept(TWO, 'Write')] };

test('without steps, the prompt is the one step, which has an id', { tags: ['I5-replies'] }, () => {
  const none: WantedWork[] = [{ prompt: 'Write' }, { prompt: 'Write', steps: null }, { prompt: 'Write', steps: [] }];
  for (const wanted of none) {
    const { prompt, steps } = changedWork(null, wanted);
    expect([prompt, steps.map((step) => step.prompt)]).toEqual(['Write', ['Write']]);
    expect(isUuid(steps[0]!.id)).toBe(true);
  }
});

test('steps get ids of their own; the prompt stays what it is', () => {
  const { prompt, steps } = changedWork(null, { prompt: 'Tides', steps: [added('Write'), added('Write')] });
  expect([prompt, steps.map((step) => step.prompt)]).toEqual(['Tides', ['Write', 'Write']]);
  expect(new Set(steps.map(({ id }) => id)).size).toBe(2);
  expect(changedWork(null, { steps: [added('Write')] }).prompt).toBeNull();
});

describe('a change', () => {
  test.each<[string, TaskWork, WantedWork, TaskWork]>([
    [
      'of the prompt that is the step keeps its id',
      PROMPT,
      { prompt: 'Draw' },
      { prompt: 'Draw', steps: [kept(ONE, 'Draw')] },
    ],
    ['of the prompt before steps leaves them', BOTH, { prompt: 'Ebb' }, { ...BOTH, prompt: 'Ebb' }],
    ['may remove the prompt before steps', BOTH, { prompt: null }, STEPS],
    ['may add one', STEPS, { prompt: 'Tides' }, BOTH],
    [
      'of steps keeps those that it names, in the new order',
      STEPS,
      { steps: [kept(TWO, 'Draw'), kept(ONE, 'Collect')] },
      { prompt: null, steps: [kept(TWO, 'Draw'), kept(ONE, 'Collect')] },
    ],
    ['of the prompt to itself changes nothing', PROMPT, { prompt: 'Write' }, PROMPT],
    ['without steps keeps the one step of a prompt', PROMPT, { steps: [] }, PROMPT],
  ])('%s', (_, before, wanted, after) => {
    expect(changedWork(before, wanted)).toEqual(after);
  });

  test('that removes the steps makes the prompt the one step, with a new id', () => {
    for (const steps of [null, []]) {
      const after = changedWork(BOTH, { steps });
      expect(after.steps.map(({ prompt }) => prompt)).toEqual(['Tides']);
      expect([ONE, TWO]).not.toContain(after.steps[0]!.id);
    }
  });
});

test.each<[string, TaskWork | null, WantedWork, string]>([
  ['nothing to do', null, {}, 'prompt: is required without steps'],
  ['null for both', null, { prompt: null, steps: null }, 'prompt: is required without steps'],
  ['no steps left', STEPS, { steps: [] }, 'prompt: is required without steps'],
  ['the one prompt removed', PROMPT, { prompt: null }, 'prompt: is required without steps'],
  ['a blank prompt', null, { prompt: ' \n\t' }, 'prompt: must not be blank'],
  ['a blank step', null, { steps: [added('Write'), added(' ')] }, 'steps[1].prompt: must not be blank'],
  [
    'an id in a new task',
    null,
    { steps: [kept(ONE, 'Write')] },
    'steps[0].scheduled_task_step_id: must be the id of a step',
  ],
  [
    'an id of another task',
    STEPS,
    { steps: [kept(OTHER, 'Write')] },
    'steps[0].scheduled_task_step_id: must be the id of a step',
  ],
  [
    'an id twice',
    STEPS,
    { steps: [kept(ONE, 'A'), kept(ONE, 'B')] },
    'steps[1].scheduled_task_step_id: must be the id of a step',
  ],
])('%s is refused, with the field', (_, before, wanted, message) => {
  expect(() => changedWork(before, wanted)).toThrow(message);
});
