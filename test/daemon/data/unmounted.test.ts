// An empty data directory where a disk belongs that isn't mounted yet.
import { expect, test } from 'vitest';
import { missingMountOf } from '../../../src/daemon/data/unmounted.ts';

const FSTAB = `# <file system> <mount point> <type>
UUID=1 / ext4 errors=remount-ro 0 1
#UUID=2 /srv/old ext4 defaults 0 2
UUID=3 /srv/errand/ ext4 nofail 0 2
UUID=4 /mnt/two\\040words ext4 noauto 0 2
UUID=5 none swap sw 0 0`;
const MOUNTED = `22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 8:17 / /mnt/two\\040words rw - ext4 /dev/sdb1 rw`;

test.each([
  ['the mount point itself', '/srv/errand', '/srv/errand'],
  ['a directory on the disk', '/srv/errand/data', '/srv/errand'],
  ['a name that only begins like it', '/srv/errand2', null],
  ['one that is commented out', '/srv/old', null],
  ['the root’s own disk', '/var/lib/errand', null],
  ['a disk that is there', '/mnt/two words/data', null],
])('%s', (_what, directory, missing) => {
  expect(missingMountOf(directory, FSTAB, MOUNTED)).toBe(missing);
});

test('once it is mounted, or where the kernel does not say, nothing is missing', () => {
  expect(
    missingMountOf('/srv/errand', FSTAB, `${MOUNTED}\n31 22 8:33 / /srv/errand rw - ext4 /dev/sdc1 rw`),
  ).toBeNull();
  expect(missingMountOf('/srv/errand', FSTAB, '')).toBeNull();
});
