// Stages run beside each other; the failure of one ends the others, and is the one that is told.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { extraPodStage } from '../../../knative/try/cluster/extra-pod.ts';
import { runStages } from '../../../knative/try/cluster/stages.ts';
import type { Stage, StageTurn } from '../../../knative/try/cluster/stage.ts';
import type { Cluster } from '../../../knative/try/cluster/start-cluster.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no stage here asks it anything
const cluster = {} as Cluster;

const stage = (name: string, run: (turn: StageTurn) => Promise<void>): Stage => ({
  name,
  run: (_, turn) => run(turn),
});

const turn = (signal = new AbortController().signal): Omit<StageTurn, 'before'> => ({
  onReady: () => undefined,
  signal,
});

test('a stage is told when the one before it is ready, and may prepare until then', async () => {
  const said: string[] = [];
  const first = stage('first', async () => void said.push('first is ready'));
  const second = stage('second', async ({ before }) => {
    said.push('second prepares');
    await before;
    said.push('second goes on');
  });
  await runStages([first, second], cluster, turn());
  expect(said.toSorted()).toEqual(['first is ready', 'second goes on', 'second prepares']);
  expect(said.at(-1)).toBe('second goes on');
});

test('a server beside our functions waits for them, with its image at hand', async () => {
  const said: string[] = [];
  const hasImage = Promise.withResolvers<void>();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is asked nothing else
  const imported = {
    kubeconfigPath: '/nowhere',
    importImage: async () => hasImage.resolve(),
  } as Partial<Cluster> as Cluster;
  const functions = stage('functions', async () => {
    await hasImage.promise;
    // Some work, of any length.
    await readFile(import.meta.filename);
    said.push('our namespace is there');
  });
  const pod = { namespace: 'monitoring', name: 'prometheus' };
  const extra = { name: 'monitoring', readyName: 'Prometheus', image: '' };
  const objects = (): never => {
    said.push('rights in our namespace');
    throw new Error('as far as this test goes');
  };
  const server = extraPodStage({ ...extra, part: 'prometheus', pod, objects }, async () => '');
  await expect(runStages([functions, server], imported, turn())).rejects.toThrow('as far as');
  expect(said).toEqual(['our namespace is there', 'rights in our namespace']);
});

test('when a stage fails the others have ended before that is told', async () => {
  let hasEnded = false;
  const first = stage('first', async ({ signal }) => {
    await once(signal, 'abort');
    hasEnded = true;
    throw new Error('ended because of the second');
  });
  const second = stage('second', () => Promise.reject(new Error('an image was not built')));
  await expect(runStages([first, second], cluster, turn())).rejects.toThrow(
    'an image was not built',
  );
  expect(hasEnded).toBe(true);
});

test('whoever wants the end ends every stage', async () => {
  const end = new AbortController();
  const waiting = stage('waiting', async ({ signal }) => {
    await once(signal, 'abort');
    signal.throwIfAborted();
  });
  const run = runStages([waiting, waiting], cluster, turn(end.signal));
  end.abort(new Error('Ctrl-C'));
  await expect(run).rejects.toThrow('Ctrl-C');
});
