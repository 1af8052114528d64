// EtcdClusters with other versions and with logins, all in one place.
import { describe } from 'vitest';
import { withPlace } from './shared-place.ts';

withPlace();

describe('versions', async () => {
  await import('./upgrade.ts');
});

describe('logins', async () => {
  await import('./auth-life.ts');
});
