// EtcdClusters whose members are full, damaged or lost, all in one place.
import { describe } from 'vitest';
import { withPlace } from './shared-place.ts';

withPlace();

describe('upkeep', async () => {
  await import('./upkeep.ts');
});

describe('a lost quorum', async () => {
  await import('./recovery.ts');
});
