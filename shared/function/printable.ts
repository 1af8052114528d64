// The door of texts that others wrote, such as names of objects, to a terminal or a log that people
// read: whatever would move a cursor, change a colour, turn the line around or begin a new one is
// shown by its number. The escapes are those of JSON, so that a JSON text stays what it says.

/** Controls, marks that are not seen, separators of lines, and halves of characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export const printable = (text: string): string => text.replaceAll(UNSEEN, escaped);

function escaped(found: string): string {
  const units = Array.from({ length: found.length }, (_, index) => found.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
