// P19: the longest time that a writer waits while an EtcdCluster is scaled from three members to
// five and back, against the time that a lost leader would cost. A plain StatefulSet with its
// static list of members cannot be scaled. Members are real etcds as processes.
import { ALLOWED, allowedPause, pausedBy } from './etcd/pauses.ts';
import { startShippedPlace } from './etcd/shipped-place.ts';
import { createOurs, defaultSettings, OURS, urlsOf } from './etcd/sides.ts';
import type { Bench, Sample } from './runner.ts';

const AT = { namespace: 'p19', name: 'etcd' };

export const bench: Bench = {
  id: 'P19',
  title: 'the longest pause of writes while an etcd is scaled from three to five and back',
  pairs: 5,
  figures: [
    {
      name: 'pause',
      unit: 'ms',
      ours: OURS,
      against: ALLOWED,
      better: 'lower',
      limit: 1,
      sample: 'pauseMs',
      control: 'writeMs',
    },
  ],
  open: async () => {
    const place = await startShippedPlace();
    const scaled = async (): Promise<Sample> =>
      pausedBy(urlsOf(await place.pods(AT)), async () => {
        for (const replicas of [5, 3]) {
          await place.edit(AT, { replicas });
          await place.wakeUntilReady(AT);
        }
      });
    try {
      const allowed = allowedPause(await defaultSettings(place));
      await place.namespace(AT.namespace);
      await createOurs(place, AT, 3);
      await place.wakeUntilReady(AT);
      const sides = [
        { name: OURS, run: scaled },
        { name: ALLOWED, run: async () => allowed },
      ];
      return { sides, close: () => place.stop() };
    } catch (error) {
      await place.stop();
      throw error;
    }
  },
};
