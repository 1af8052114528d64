// A change of members of an etcd, which takes one after another and says "unhealthy cluster" for
// five seconds after each: that is a wait, and no error.
import { isEtcdFailure } from '../../../shared/etcd/admin/failure.ts';
import { until } from '../../builders/versioned-kind.ts';

const SETTLES_WITHIN_MS = 60_000;

export async function settled(what: string, change: () => Promise<unknown>): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    try {
      await change();
      return true;
    } catch (error) {
      if (isEtcdFailure(error, 'UNHEALTHY')) return false;
      throw error;
    }
  };
  await until(what, isDone, SETTLES_WITHIN_MS);
}
