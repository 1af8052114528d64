// A feed on real parts, broken in one way after the other. All of it is on one rig, whose start
// costs as much as three of these tests. Deletes are forgotten before servers are killed: NATS may
// come back with what they had removed, and one sweep has to end that, too.
import { withScene } from './story.ts';

withScene();

await import('./seeds.ts');
await import('./adapter-and-function.ts');
await import('./events-and-readers.ts');
await import('./servers.ts');
await import('./gaps.ts');
