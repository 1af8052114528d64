// The image that every pod's sandbox is made of, from the program among the parts.
import { join } from 'node:path';
import { type Image, writeImage } from '../../tools/images/image.ts';
import { writeArchive } from '../../tools/images/layout.ts';

const ARCHIVE = 'pause.tar';

export const PAUSE_IMAGE = 'dev.local/ballast/pause:1';

/** Resolves with the name, in `dir`, of an archive that containerd imports. */
export async function pauseArchive(pause: string, dir: string): Promise<string> {
  const { directory }: Image = await writeImage(
    {
      name: PAUSE_IMAGE,
      files: [{ path: '/pause', mode: 0o755, from: { host: pause } }],
      entrypoint: ['/pause'],
    },
    join(dir, 'pause'),
  );
  await writeArchive(directory, join(dir, ARCHIVE));
  return ARCHIVE;
}
