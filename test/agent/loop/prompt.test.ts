// The instructions that a run begins with.
import { expect, test } from 'vitest';
import { defaultInstructions, instructionsOf } from '../../../src/agent/loop/prompt.ts';
import { writeFile } from '../../../src/agent/tools/write-file.ts';

const AT = Date.parse('2026-03-04T23:59:00Z');

test("an expert's own instructions replace the default ones and get the facts of the run", () => {
  const instructions = instructionsOf(
    { instructions: 'You are a poet.', outputSchema: null, depth: 0 },
    { tools: [writeFile], notes: [] },
    AT,
  );
  expect(instructions).toMatch(/^You are a poet\./);
  expect(instructions).toContain('2026-03-04');
  expect(instructions).toContain('write_file');
  expect(instructions).not.toContain('You are Errand');
});

test('without any the agent works by the default ones', () => {
  expect(
    instructionsOf({ instructions: '', outputSchema: null, depth: 0 }, { tools: [], notes: [] }, AT).startsWith(
      defaultInstructions(),
    ),
  ).toBe(true);
});
