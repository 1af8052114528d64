// The thread of the writers: what else the process of a benchmark does, such as playing a kubelet,
// holds up none of them. It answers `flow` once all write, and `stop` with the report.
import { parentPort, workerData } from 'node:worker_threads';
import { Writers } from './writers.ts';

const port = parentPort;
if (port === null) throw new Error('This is a thread of writers.ts.');

/** The addresses of the members are its `workerData`. */
const writers = new Writers((workerData as { readonly urls: readonly string[] }).urls);

port.on('message', (asked: 'flow' | 'stop') => {
  const answer = asked === 'flow' ? writers.untilAllWrite() : writers.stop();
  void answer.then((report) => port.postMessage(report));
});
