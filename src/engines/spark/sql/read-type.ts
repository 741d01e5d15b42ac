import type { SparkCursor } from './spark-cursor.ts';
import { intervalUnits } from './words.ts';

/** INT, DECIMAL(10, 2), ARRAY<…>, MAP<…, …>, STRUCT<name: …, …>, INTERVAL DAY TO SECOND, STRING COLLATE name */
export function readType(cursor: SparkCursor): void {
  const token = cursor.peek();
  if (token?.kind !== 'word') throw cursor.unexpected('a type');
  cursor.take();
  if (cursor.seesSigns('<') && ['array', 'map', 'struct'].includes(token.word)) {
    readElements(cursor, token.word === 'struct');
    return;
  }
  if (token.word === 'interval' && cursor.seesOneOf(intervalUnits)) {
    cursor.take();
    if (cursor.takes('to')) cursor.takePart();
    return;
  }
  if (cursor.takesSigns('(')) {
    do cursor.takeNumber();
    while (cursor.takesSigns(','));
    cursor.expectSign(')');
  }
  if (cursor.takes('collate')) cursor.takeName('the name of a collation');
}

function readElements(cursor: SparkCursor, isStruct: boolean): void {
  cursor.expectSign('<');
  if (cursor.takesSigns('>')) return;
  cursor.size.nested(() => {
    do {
      if (isStruct) {
        cursor.takePart();
        cursor.takesSigns(':');
      }
      readType(cursor);
      cursor.takes('not', 'null');
      if (cursor.takes('comment')) cursor.takeString();
    } while (cursor.takesSigns(','));
  });
  cursor.expectSign('>');
}
