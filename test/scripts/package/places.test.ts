// Where the single executable looks for a directory, best first.
import { expect, test } from 'vitest';
import { placesOf } from '../../../scripts/package/boot/places.ts';

const MACHINE = { home: '/home/ada', temporary: '/tmp', uid: 1000 };

test.each<[string, Record<string, string>, readonly string[]]>([
  ['a user', {}, ['/home/ada/.cache/errand', '/tmp/errand-1000']],
  [
    'a user with a session',
    { XDG_CACHE_HOME: '/cache', XDG_RUNTIME_DIR: '/run/user/1000' },
    ['/cache/errand', '/home/ada/.cache/errand', '/run/user/1000/errand', '/tmp/errand-1000'],
  ],
  [
    'a service',
    {
      CACHE_DIRECTORY: '/var/cache/errand:/var/cache/more',
      RUNTIME_DIRECTORY: '/run/errand',
      STATE_DIRECTORY: '/var/lib/errand',
    },
    [
      '/var/cache/errand/program',
      '/home/ada/.cache/errand',
      '/run/errand/program',
      '/var/lib/errand/program',
      '/tmp/errand-1000',
    ],
  ],
  ['a directory that is named', { ERRAND_CACHE_DIR: '/srv/errand', XDG_CACHE_HOME: '/cache' }, ['/srv/errand']],
  ['a path that is not absolute', { XDG_CACHE_HOME: 'cache' }, ['/home/ada/.cache/errand', '/tmp/errand-1000']],
])('%s', (_, environment, locations) => {
  expect(placesOf(environment, MACHINE)).toEqual(locations);
});
