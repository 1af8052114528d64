// The measurements by name.
import { UsageError } from '../../shared/arguments.ts';
import { Interrupted } from '../bench/feed/system.ts';
import { floods } from './floods/floods.ts';
import type { MeasureOptions } from './options.ts';
import { scale } from './scale.ts';
import { soak } from './soak.ts';
import { takeoverEtcd, takeoverJoin } from './takeovers/etcd.ts';
import { takeoverNats } from './takeovers/nats.ts';

/** Resolves with false when a signal ended it, and the cluster with it. */
export async function measure(options: MeasureOptions): Promise<boolean> {
  const { measurement, sizes, minutes } = options;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    if (measurement === 'scale') await scale(sizes, print);
    else if (measurement === 'soak') await soak(minutes, print);
    else if (measurement === 'floods') await floods(options, print);
    else if (measurement === 'takeover-etcd') await takeoverEtcd(options.keys, print);
    else if (measurement === 'takeover-join') await takeoverJoin(options.keys, print);
    else if (measurement === 'takeover-nats') await takeoverNats(print);
    else throw new UsageError(`There is no measurement ${measurement}.`);
    return true;
  } catch (error) {
    if (error instanceof Interrupted) return false;
    throw error;
  }
}
