// `errand config show`, without a daemon: all settings, one of them, or a group.
import { expect, test } from 'vitest';
import { makeDirectory, run } from '../../outside.ts';

const show = (...args: readonly string[]) => run(['config', 'show', ...args], { dataDir: makeDirectory() });
const namesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((row) => row.split('\t')[0]);

test('one setting, or those of a group', async () => {
  expect(await show('streams.drain_seconds')).toMatchObject({ code: 0, stdout: 'streams.drain_seconds\t30\n' });
  const group = namesOf((await show('streams')).stdout);
  expect(group).toContain('streams.drain_seconds');
  expect(group.every((name) => name!.startsWith('streams.'))).toBe(true);
  expect(namesOf((await show()).stdout)).toEqual(expect.arrayContaining([...group, 'log.level']));
  const json = await show('log.level', '--origin', '-o', 'json');
  expect(JSON.parse(json.stdout)).toMatchObject({ 'log.level': { value: 'info', origin: 'default' } });
});

test('what is no setting is refused, with the one that was meant', async () => {
  expect(await show('streams.drain_second')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(
      'There is no setting streams.drain_second (did you mean "streams.drain_seconds"?).',
    ),
  });
});
