// What a tool server replied, as text.
import { expect, test } from 'vitest';
import { resultOf } from '../../../src/agent/mcp/content.ts';

test('data without text is shown as JSON, as long as it does not nest too deep', () => {
  const result = (levels: number) =>
    resultOf({
      content: [],
      structuredContent: JSON.parse(`{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`) as Record<
        string,
        unknown
      >,
    });
  expect(result(3)).toEqual({ ok: true, output: '{"x":[[]]}' });
  expect(result(20_000)).toEqual({ ok: true, output: '[data nested deeper than 64 levels, not shown here]' });
});
