// Debian's headless Chromium, with the libraries that it loads.
import { join } from 'node:path';
import { debianFiles } from '../builders/debian-files.ts';

const PACKAGE = 'chromium-headless-shell';
/** These draw on graphics cards. */
const NOT_TAKEN = /^lib(?:gl1-mesa-dri|llvm\d+|z3-4)$/;

export interface ChromiumFiles {
  readonly binary: string;
  /** For LD_LIBRARY_PATH. */
  readonly libraries: string;
}

export async function chromiumFiles(): Promise<ChromiumFiles> {
  const { dir, libraries } = await debianFiles({
    name: 'chromium',
    packages: [PACKAGE],
    // It has the data of the other one.
    beside: ['chromium-common'],
    isTaken: (library) => !NOT_TAKEN.test(library),
  });
  const [first = ''] = libraries;
  return {
    binary: join(dir, 'usr/lib/chromium', PACKAGE),
    libraries: [...libraries, join(first, 'pulseaudio')].join(':'),
  };
}
