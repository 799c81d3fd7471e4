// Choosing a stretch of a passage, by dragging or by keys; places are counted in the passage's own text.

/** The chosen stretch, when it lies within one passage: {passage, start, end}. */
export function chosen() {
  const selection = getSelection();
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const from = passageOf(range.startContainer);
  if (from === null) return null;
  const start = offset(from, range.startContainer, range.startOffset);
  // A drag that ends below the last line lands in the next element: it means the end of the passage.
  const end = from.contains(range.endContainer) ? offset(from, range.endContainer, range.endOffset) : from.textContent.length;
  return start < end ? { passage: from, start, end } : null;
}

function passageOf(node) {
  const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  return element.closest(".reading");
}

function offset(passage, node, at) {
  const range = document.createRange();
  range.selectNodeContents(passage);
  range.setEnd(node, at);
  return range.toString().length;
}

/** Select a stretch of a passage. */
export function choose(passage, start, end) {
  const [from, first] = place(passage, start);
  const [to, last] = place(passage, end);
  getSelection().setBaseAndExtent(from, first, to, last);
}

function place(passage, at) {
  const walk = document.createTreeWalker(passage, NodeFilter.SHOW_TEXT);
  let node = walk.nextNode(), left = at, last = null;
  while (node !== null) {
    if (left <= node.data.length) return [node, left];
    left -= node.data.length;
    last = node;
    node = walk.nextNode();
  }
  return last === null ? [passage, 0] : [last, last.data.length];
}

/** Moves over the words of one passage: arrows move, Shift widens or narrows. */
export class WordCursor {
  constructor(passage) {
    this.passage = passage;
    this.words = [...passage.textContent.matchAll(/\S+/g)].map((one) => [one.index, one.index + one[0].length]);
    this.first = this.last = -1;
  }

  /** Take the selection over, so that keys go on where a drag has ended. */
  adopt() {
    const at = chosen();
    if (at === null || at.passage !== this.passage) return;
    this.first = this.words.findIndex((word) => word[1] > at.start);
    this.last = this.words.findLastIndex((word) => word[0] < at.end);
  }

  key(key, shift) {
    this.adopt();
    const most = this.words.length - 1;
    if (most < 0) return;
    if (this.first < 0) {
      this.first = this.last = 0;
    } else {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 8, ArrowUp: -8 }[key];
      const to = Math.max(0, Math.min(most, this.last + step));
      this.last = shift ? Math.max(this.first, to) : to;
      if (!shift) this.first = this.last;
    }
    choose(this.passage, this.words[this.first][0], this.words[this.last][1]);
    const box = getSelection().getRangeAt(0).getBoundingClientRect();
    if (box.top < 160 || box.bottom > innerHeight - 120) scrollBy({ top: box.top - innerHeight / 2 });
  }
}

/** Draw a passage from pieces: [text, whether it is marked]. */
export function draw(passage, pieces) {
  passage.replaceChildren(
    ...pieces.map(([text, marked]) => {
      if (!marked) return document.createTextNode(text);
      const mark = document.createElement("mark");
      mark.textContent = text;
      return mark;
    }),
  );
}
