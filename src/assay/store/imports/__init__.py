"""Other people's golden sets: one file a form, all behind one protocol (``form.Form``)."""
