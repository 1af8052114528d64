// NatsClusters with real servers, all in one place. Each file takes its cluster away at its end:
// the sweeps of the next one would look at it, too.
import { describe } from 'vitest';
import { withPlace } from './shared-place.ts';

withPlace();

describe('blockers', async () => {
  await import('./blockers.ts');
});

describe('Secrets and accounts', async () => {
  await import('./passwords.ts');
});

describe('claims', async () => {
  await import('./grow.ts');
});

describe('routes to others', async () => {
  await import('./routed.ts');
});
