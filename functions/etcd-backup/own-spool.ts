// The copy of a snapshot on the disk of this machine, for a target that has none to read from.
import { Failure } from '../../shared/errors.ts';
import { assertRoom, Spool } from '../../shared/spool.ts';

export interface SpoolOptions {
  readonly spoolDir: string;
  /** The most that may be there; undefined for what the disk has. */
  readonly spoolBytes?: number | undefined;
}

/** Fails before anything is written where that much cannot be. */
export async function beginSpool(
  { spoolDir, spoolBytes = Number.POSITIVE_INFINITY }: SpoolOptions,
  dbSizeBytes: number,
): Promise<Spool> {
  if (dbSizeBytes > spoolBytes) throw spoolTooSmall(spoolDir, spoolBytes, dbSizeBytes);
  await assertRoom(spoolDir, dbSizeBytes);
  return Spool.inDirectory(spoolDir);
}

function spoolTooSmall(dir: string, spoolBytes: number, sizeBytes: number): Failure {
  const message =
    `${dir} may take ${spoolBytes} bytes, and the database has ${sizeBytes}. Let it take more ` +
    '(spec.spool.size of an EtcdBackup).';
  return new Failure('DISK_FULL', message, { object: dir });
}
