// Migrations on a plane of their own, all in one place: a migration that is over says nothing more
// at a tick, and kinds have names that no other file has.
import { describe } from 'vitest';
import { withEncryptedPlane } from './encrypted-plane.ts';

withEncryptedPlane();

describe('etcd is asked', async () => {
  await import('./etcd.ts');
});

// It kills the API server, and makes etcd forget.
describe('servers in trouble', async () => {
  await import('./servers.ts');
});
