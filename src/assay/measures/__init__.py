"""Measures over ranked lists: numbers only, never text.

One family of measures a file, with its textbook function, its kernel and its card side by side:
``recall``, ``precision``, ``reciprocal``, ``cumulative`` (DCG, nDCG), ``average`` (AP, infAP),
``preference`` (bpref), ``cascade`` (RBP, ERR), ``judgement``. ``single`` gathers the textbook functions,
``batch`` scores whole runs, ``spec`` reads ``nDCG@10``, ``worked`` shows the arithmetic. ``ties``,
``spans`` and ``budget`` answer questions of their own.
"""
