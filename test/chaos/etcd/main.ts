// `npm run chaos:etcd -- --seeds N`: lives of EtcdClusters on the model of etcd that the unit tests
// have, each with deaths, old reads and lost events that come from its seed. Ends with 1 when one
// of them broke a rule or never came to rest, with 2 when it was asked wrongly.
import { readOptions, USAGE } from './options.ts';
import { runChaos } from '../run-chaos.ts';

const chaos = { usage: USAGE, readOptions, load: () => import('./run-seeds.ts') };

process.exitCode = await runChaos(chaos);
