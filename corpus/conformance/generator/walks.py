def vectors(): return []
