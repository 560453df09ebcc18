import { expect, test } from 'vitest';
import { writeSetting } from '../../src/config/write-setting.ts';

const FILE = `# The daemon.
listen: 127.0.0.1:8484 # behind nginx
#public_url: http://127.0.0.1:8484

model:
  # Small models loop.
  max_steps: 20
`;

test.each([
  [
    'a setting of the top',
    'public_url',
    'https://errand.example.com',
    `${FILE}public_url: https://errand.example.com\n`,
  ],
  ['one that is there', 'model.max_steps', '50', FILE.replace('20', '50')],
  ['one of a section that is there', 'model.idle_timeout_seconds', '9', `${FILE}  idle_timeout_seconds: 9\n`],
  ['one of another section', 'disk.keep_free_mb', '100', `${FILE}disk:\n  keep_free_mb: 100\n`],
])('%s is written, and all comments stay', (_, name, value, text) => {
  expect(writeSetting(FILE, name, value)).toEqual({ ok: true, text });
});

test('a file of comments keeps them', () => {
  const written = writeSetting('# Nothing is set.\n#listen: 127.0.0.1:1\n', 'trusted_proxies', '["127.0.0.1"]');
  expect(written).toEqual({
    ok: true,
    text: expect.stringMatching(
      /^# Nothing is set\.\n#listen: 127\.0\.0\.1:1\n\n?trusted_proxies:\n {2}- 127\.0\.0\.1\n$/,
    ),
  });
  expect(writeSetting('', 'model.max_steps', '5')).toEqual({ ok: true, text: 'model:\n  max_steps: 5\n' });
});

test('a setting is removed, so that its default is in effect', () => {
  expect(writeSetting('log:\n  level: debug\nlisten: 127.0.0.1:1\n', 'listen', null)).toEqual({
    ok: true,
    text: 'log:\n  level: debug\n',
  });
  const others = 'log:\n  level: debug\n';
  expect(writeSetting(others, 'model.max_steps', null)).toEqual({ ok: true, text: others });
  expect(writeSetting('', 'model.max_steps', null)).toMatchObject({ ok: true });
});

test.each([
  [
    'an unknown setting',
    FILE,
    'modle.max_steps',
    '5',
    'There is no setting modle.max_steps (did you mean "model.max_steps"?).',
  ],
  ['a value that does not fit', FILE, 'model.max_steps', 'many', /^model\.max_steps: must be/],
  ['a value out of range', FILE, 'model.max_steps', '0', /^model\.max_steps: must be/],
  ['a file that is no YAML', 'a: [', 'model.max_steps', '5', /^errand\.yaml is not valid YAML: /],
])('%s changes nothing, and says why', (...[, text, name, value, why]) => {
  expect(writeSetting(text, name, value)).toEqual({
    ok: false,
    why: typeof why === 'string' ? why : expect.stringMatching(why),
  });
});
