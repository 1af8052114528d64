// A feed on real parts, broken in one way after the other. All of it is on one rig, whose start
// costs as much as three of these tests. Deletes are forgotten last: a nats-server that is killed
// after that may come back with what they had removed, and two sweeps heal it, not one.
import { withScene } from './story.ts';

withScene();

await import('./seeds.ts');
await import('./adapter-and-function.ts');
await import('./servers.ts');
await import('./gaps.ts');
await import('./events-and-readers.ts');
