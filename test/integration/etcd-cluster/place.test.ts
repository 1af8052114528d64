// EtcdClusters with other versions, with logins, and among older members, all in one place.
import { describe } from 'vitest';
import { withPlace } from './shared-place.ts';

withPlace();

describe('versions', async () => {
  await import('./upgrade.ts');
});

describe('members of before', async () => {
  await import('./join-legacy.ts');
});

describe('logins', async () => {
  await import('./auth-life.ts');
});
